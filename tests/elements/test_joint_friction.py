"""Friction in joints: LuGre against scipy and its published behaviour, sliding under reactions."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import (
    GROUND,
    AppliedForce,
    AppliedTorque,
    Body,
    Compiled,
    ContactAligned,
    Frame,
    LuGreLaw,
    Mechanism,
    MoreauJean,
    PaperStep,
    Parameter,
    Prismatic,
    Revolute,
    SlideFriction,
    SpringDamper,
    Start,
    StepBounds,
    StribeckLaw,
    TurnFriction,
    Variational,
    ViscousLaw,
    assemble,
    joint_resistance,
    simulate,
)
from nsopt.mechanics import State
from tests.catalog import JOINT_FRICTION

# A mass of 1 kg under its weight; the published example: sigma_0 = 1e5 N/m, sigma_1 = sqrt(1e5)
# N s/m, sigma_2 = 0.4 N s/m, F_c = 1 N, F_s = 1.5 N, v_s = 1 mm/s [Canudas de Wit 1995], divided
# by the normal force.
N = 9.81
S0, S1, S2, FC, FS, VS = 1e5, np.sqrt(1e5), 0.4, 1.0, 1.5, 1e-3
LAW = LuGreLaw(S0 / N, S1 / N, S2 / N, FC / N, FS / N, VS)
AXIS = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # z along x


def slider(law, *forces, load=None, v0=0.0):
    """A mass on a slide along x, weight across it."""
    mass = Body("mass", 1.0, (1e-3,) * 3, velocity=(v0, 0, 0))
    a, b = Frame(GROUND, axes=AXIS), Frame(mass, axes=AXIS)
    elements = [SlideFriction("rub", a, b, law, load), *(f(mass) for f in forces)]
    slide = Prismatic("slide", a, b)
    return assemble(Mechanism([mass], [slide], "absolute"), elements, gravity=(0, 0, -N))


def run(d, duration, h, scheme=None, **options):
    result = simulate(
        d,
        duration=duration,
        steps=StepBounds(1e-7, h),
        scheme=scheme or Variational(),
        solver=Compiled(),
        progress=False,
        **options,
    )
    assert result.completed
    return result


def bristles(push):
    """Right-hand side of (x, v, z) for a mass under push(t, x)."""

    def rate(t, y):
        x, v, z = y
        g = FC + (FS - FC) * np.exp(-((v / VS) ** 2))
        dz = v - S0 * abs(v) * z / g
        return v, push(t, x) - S0 * z - S1 * dz - S2 * v, dz

    return rate


def independent(push, duration, times, y0=(0, 0, 0)):
    solution = solve_ivp(
        bristles(push), (0, duration), y0, "LSODA", times, rtol=1e-9, atol=1e-12, max_step=1e-2
    )
    return solution.y


def at(result, times, what="body_position"):
    return np.interp(times, result.data["time"].values, result[what].values[:, 0, 0])


@pytest.mark.slow
def test_stick_slip_of_a_mass_pulled_by_a_spring():
    """The limit cycle: it sticks, breaks away, sticks again; the same as scipy's."""
    k, pull, duration = 2.0, 0.1, 30.0

    def hook(mass):
        return AppliedForce("pull", Frame(mass), lambda t: (k * pull * t, 0, 0))

    def spring(mass):
        return SpringDamper("back", Frame(GROUND), Frame(mass), k)

    result = run(slider(LAW, hook, spring), duration, 1e-3)
    times = np.linspace(0, duration, 601)
    x, _, _ = independent(lambda t, x: k * (pull * t - x), duration, times)
    assert at(result, times) == pytest.approx(x, abs=2e-3)
    speed = np.gradient(at(result, times), times)
    sticks, slips = speed < 1e-3, speed > 0.15
    assert 0.3 < np.mean(sticks) < 0.9
    assert np.sum(np.diff(slips.astype(int)) == 1) >= 2  # again and again


@pytest.mark.slow
def test_presliding_hysteresis():
    """Below break-away the mass moves by the bristles alone, on loops that close."""

    def push(t):
        return 0.4 * np.sin(2 * np.pi * t) + 0.3 * np.sin(4 * np.pi * t)

    result = run(
        slider(LAW, lambda m: AppliedForce("push", Frame(m), lambda t: (push(t), 0, 0))), 4.0, 2e-4
    )
    times = np.linspace(0, 4, 801)
    x, _, z = independent(lambda t, x: push(t), 4.0, times)
    mine = at(result, times)
    assert np.max(np.abs(x)) < 3e-5
    assert mine == pytest.approx(x, abs=2e-8)
    assert np.interp(times, result.data["time"].values, result["q"].values[:, -1]) == pytest.approx(
        z, abs=2e-8
    )
    last, before = mine[times >= 3], mine[(times >= 2) & (times <= 3)]
    assert last == pytest.approx(before, abs=4e-7)
    area = np.trapezoid(push(times[times >= 3]), last)
    assert area > 1e-7  # work lost in a loop


def test_frictional_lag():
    """Friction is larger as speed rises than as it falls, the more the faster it changes."""
    slow, fast = (largest_lag(2 * np.pi * frequency) for frequency in (1.0, 10.0))
    assert fast > 1.5 * slow > 0


def largest_lag(w):
    """Largest difference of friction at one speed, driven at v = 2 + 1.5 sin(w t) mm/s."""
    s, u, z, h = State(ca.SX(0), {}, {}), ca.SX.sym("u"), ca.SX.sym("z"), ca.SX.sym("h")
    law = LuGreLaw(S0 / N, S1 / N, 0.0, FC / N, FS / N, VS)
    ends = [law.advance_states(s, u, h, z), law.resist(s, u, ca.SX(N), h, z)]
    step = ca.Function("step", [z, u, h], ends).mapaccum(8000)
    dt = 2 * np.pi / w / 4000
    speed = 2e-3 + 1.5e-3 * np.sin(w * dt * (np.arange(8000) + 0.5))
    force = np.asarray(step(0, speed, dt)[1]).ravel()[4000:]
    speed = speed[4000:]
    rising = np.gradient(speed) > 0
    order = np.argsort(speed)
    grid = np.linspace(1e-3, 3e-3, 50)
    up, down = (
        np.interp(grid, speed[order][part[order]], force[order][part[order]])
        for part in (rising, ~rising)
    )
    return np.max(up - down)


def test_mean_over_a_step_is_that_of_many_short_ones():
    s, u, z, h = State(ca.SX(0), {}, {}), ca.SX.sym("u"), ca.SX.sym("z"), ca.SX.sym("h")
    ends = [LAW.advance_states(s, u, h, z), LAW.resist(s, u, ca.SX(N), h, z)]
    step = ca.Function("step", [z, u, h], ends)
    for speed in (0.0, 1e-9, 1e-6, 1e-3, -0.02, 0.5):
        state, force = (float(x) for x in step(3e-6, speed, 1e-3))
        states, forces = step.mapaccum(1000)(3e-6, np.full(1000, speed), 1e-6)
        assert state == pytest.approx(float(states[-1]), abs=1e-16)
        assert force == pytest.approx(np.mean(np.asarray(forces)), rel=1e-9, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", [Variational(), MoreauJean(), ContactAligned()], ids=lambda s: type(s).__name__
)
def test_a_block_slides_down_by_its_reaction(scheme):
    """g (sin - mu cos) along a slope: the normal force is what the joint holds."""
    mu, slope = 0.2, 0.6
    body = Body("block", 2.0, (1e-2,) * 3)
    tilt = np.array([np.cos(slope), 0, -np.sin(slope)])
    axes = np.column_stack([[np.sin(slope), 0, np.cos(slope)], [0, -1, 0], tilt])
    axes[:, 1] = np.cross(axes[:, 2], axes[:, 0])
    a, b = Frame(GROUND, axes=axes), Frame(body, axes=axes)
    rub = SlideFriction("rub", a, b, StribeckLaw(mu, creep=1e-5))
    d = assemble(
        Mechanism([body], [Prismatic("slide", a, b)], "absolute"), [rub], gravity=(0, 0, -9.81)
    )
    result = run(d, 0.5, 1e-3, scheme)
    down = result["body_position"].values[-1, 0] @ tilt
    free = 9.81 * (np.sin(slope) - mu * np.cos(slope))
    assert down == pytest.approx(free * 0.5**2 / 2, rel=3e-3)
    resists = result["joint_resistance_force"].values[-1, 0] @ tilt
    assert resists == pytest.approx(-mu * 2.0 * 9.81 * np.cos(slope), rel=1e-3)
    lost = result["dissipated_energy"].values[-1]
    assert lost == pytest.approx(mu * 2.0 * 9.81 * np.cos(slope) * down, rel=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("law", [ViscousLaw(2.0), StribeckLaw(0.2, 0.4, 0.05), LAW], ids=repr)
def test_second_order_under_a_given_load(law):
    """Away from the kinks at rest, against a run with very short steps."""
    d = slider(law, load=5.0, v0=1.0)
    q, v = d.stated_start()
    q[7:] = FC / S0  # bristles bent as they are in sliding
    fine, *ends = (
        run(d, 0.2, h, start=Start(q, v))["body_position"].values[-1, 0, 0]
        for h in (2e-5, 4e-3, 2e-3)
    )
    off = np.abs(np.array(ends) - fine)
    assert off[1] < off[0] / 3 or off[0] < 1e-9


@pytest.mark.slow
def test_a_load_may_be_a_parameter():
    d = slider(StribeckLaw(0.2, creep=1e-5), load=Parameter("load", 5.0), v0=1.0)
    ends = [
        run(d, 0.2, 1e-3, parameters={"load": load})["v"].values[-1, 0] for load in (0.0, 5.0, 10.0)
    ]
    assert ends == pytest.approx([1.0, 0.8, 0.6], abs=1e-4)


def test_internal_states_are_coordinates_of_the_record():
    d = slider(LAW)
    assert d.q_names[-1] == "rub.z"
    assert d.internal_names == ("rub.z",)
    q, _ = d.stated_start()
    assert q[-1] == 0


def test_schemes_without_it_say_so():
    with pytest.raises(ValueError, match=r"PaperStep knows no friction .*'slide'.* Variational"):
        simulate(slider(LAW), duration=0.1, steps=StepBounds(1e-3, 1e-3), scheme=PaperStep())


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda a, b: SlideFriction("rub", a, b, "coulomb"), "law of SlideFriction 'rub'"),
        (lambda a, b: SlideFriction("rub", a, b, ViscousLaw(-1.0)), "coefficient .* -1"),
        (
            lambda a, b: SlideFriction("rub", a, b, StribeckLaw(0.3, 0.2)),
            "not be below",
        ),
        (lambda a, b: SlideFriction("rub", a, b, StribeckLaw(0.3, creep=0.0)), "creep speed .* 0"),
        (lambda a, b: SlideFriction("rub", a, b, StribeckLaw(0.3), -2.0), "load .* -2"),
        (lambda a, b: TurnFriction("rub", a, b, StribeckLaw(0.3), radius=0.0), "radius .* 0"),
        (lambda a, b: SlideFriction("rub", a, b, LuGreLaw(0, 1, 0, 1, 1, 1)), "stiffness .* 0"),
    ],
)
def test_numbers_out_of_range_are_refused(build, says):
    mass = Body("mass", 1.0, (1, 1, 1))
    with pytest.raises((ValueError, TypeError), match=says):
        build(Frame(GROUND), Frame(mass))


def test_friction_needs_a_joint():
    mass = Body("mass", 1.0, (1, 1, 1))
    rub = SlideFriction("rub", Frame(GROUND), Frame(mass), StribeckLaw(0.1))
    with pytest.raises(ValueError, match="'rub' acts in no joint"):
        assemble(Mechanism([mass]), [rub])


@pytest.mark.slow
@pytest.mark.parametrize("row", JOINT_FRICTION, ids=str)
def test_every_friction_slows_a_body_by_what_the_joint_resists_with(row):
    slides = row.name.startswith("sliding")
    motion = {"velocity" if slides else "angular_velocity": (0, 0, 0.3)}
    body = Body("body", 2.0, (0.1, 0.1, 0.1), **motion)
    a, b = Frame(GROUND), Frame(body)
    joint = Prismatic("joint", a, b) if slides else Revolute("joint", a, b)
    d = assemble(Mechanism([body], [joint], "absolute"), [row.build(a, b)], gravity=(0, -9.81, 0))
    steps, scheme = StepBounds(1e-3, 1e-3), MoreauJean(theta=1.0)
    result = simulate(d, duration=0.02, steps=steps, scheme=scheme, progress=False)
    assert result.completed, result.stop_reason
    name, k, mass = ("_force", 2, 2.0) if slides else ("", 5, 0.1)
    v, resisted = result["v"].values[:, k], result[f"joint_resistance{name}"].values[1:, 0, 2]
    assert mass * np.diff(v) == pytest.approx(1e-3 * resisted, rel=1e-6, abs=1e-12)
    assert v[-1] < 0.3 - 1e-6
    assert np.all(np.abs(v) < 0.3 + 1e-12)


@pytest.mark.slow
def test_a_turning_joint_sticks_by_its_bristles():
    """A torque below mu_s N r winds up the bristles of a journal, one above turns it."""
    radius, J = 0.02, 0.05
    ends = []
    for part in (0.8, 1.2):
        rotor = Body("rotor", 1.0, (0.03, 0.03, J))
        a, b = Frame(GROUND), Frame(rotor)
        law = LuGreLaw(5e3, 100.0, 0.0, 0.1, 0.15, 1e-2)
        rub = TurnFriction("rub", a, b, law, radius=radius)
        push = AppliedTorque("push", b, (0, 0, part * 0.15 * 9.81 * radius))
        hinge = Revolute("hinge", a, b)
        d = assemble(Mechanism([rotor], [hinge], "absolute"), [rub, push], gravity=(0, -9.81, 0))
        result = run(d, 3.0, 1e-3)
        ends.append(result)
    stuck, loose = ends
    assert stuck["q"].values[-1, -1] == pytest.approx(0.8 * 0.15 / 5e3, rel=2e-2)
    assert abs(stuck["v"].values[-1, 5]) < 1e-4
    speed = loose["v"].values[:, 5]
    gain = (1.2 * 0.15 - 0.1) * 9.81 * radius / J
    assert (speed[-1] - speed[-501]) / 0.5 == pytest.approx(gain, rel=1e-2)


@pytest.mark.slow
def test_joint_resistance_is_that_of_the_record():
    """Friction and its reaction, from forces in place of impulses."""
    d = slider(StribeckLaw(0.2, creep=1e-5), v0=1.0)
    result = run(d, 0.05, 1e-3)
    resists = joint_resistance(d, "slide")
    data, k = result.data, -1
    q, v, t = data["q"].values[k], data["v"].values[k], data["time"].values[k]
    C = d.closure_matrix(t, q, []).full()
    force = C.T @ np.linalg.lstsq(C.T, [0, 0, 9.81, 0, 0, 0], rcond=None)[0]
    mu = np.linalg.lstsq(C.T, force, rcond=None)[0]
    resistance, reaction = resists(t, q, v, [], 0 * v, mu, [], [])
    assert np.ravel(resistance.full()) == pytest.approx(
        [*data["joint_resistance_force"].values[k, 0], *data["joint_resistance"].values[k, 0]],
        abs=1e-8,
    )
    assert float(reaction[0]) == pytest.approx(
        np.linalg.norm(data["joint_reaction"].values[k, 0]), rel=1e-9
    )
    with pytest.raises(ValueError, match="no joint 'slid': one of slide"):
        joint_resistance(d, "slid")


@pytest.mark.slow
def test_second_order_under_its_own_reaction():
    """A pendulum that rubs in its hinge under a load that changes, before it turns back."""
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0, 0))
    a, b = Frame(GROUND), Frame.at(rod, (0, 0, 0))
    rub = TurnFriction("rub", a, b, StribeckLaw(0.2, creep=0.05), radius=0.1)
    d = assemble(
        Mechanism([rod], [Revolute("hinge", a, b)], "absolute"), [rub], gravity=(0, -9.81, 0)
    )
    fine, *ends = (run(d, 0.6, h)["q"].values[-1, 6] for h in (5e-5, 8e-3, 4e-3, 2e-3))
    off = np.abs(np.array(ends) - fine)
    assert off[:-1] / off[1:] == pytest.approx([4, 4], rel=0.25)
    lost = run(d, 0.6, 1e-3)["dissipated_energy"].values
    assert np.min(np.diff(lost)) > -1e-5
    assert lost[-1] > 0.5
