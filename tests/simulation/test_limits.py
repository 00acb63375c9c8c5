"""Where explicit steps go wrong: spin, dampers, stiff springs; and sizes far from one."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Compiled,
    Fixed,
    Frame,
    LinearisedClosure,
    Mechanism,
    PaperStep,
    Revolute,
    Screw,
    Solver,
    SphericalClearance,
    SpringDamper,
    Sqp,
    Start,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.simulation import Acceptance


def run(dynamics, duration, h, **more):
    steps = h if isinstance(h, StepBounds) else StepBounds(h, h)
    options = {"scheme": PaperStep(), "solver": Solver(backend=Sqp())} | more
    return simulate(dynamics, duration=duration, steps=steps, progress=False, **options)


@pytest.mark.slow
def test_a_spinning_body_keeps_its_energy():
    """At the mean velocity the gyroscopic moment does no work; as printed it feeds energy in."""
    rotor = Body("rotor", 1.0, (2e-3, 3e-3, 4e-3), angular_velocity=(60.0, 80.0, 10.0))
    dynamics = assemble(Mechanism([rotor]))
    energy = run(dynamics, 0.5, 1e-3)["kinetic_energy"].values
    assert np.ptp(energy) < 1e-9 * energy[0]
    printed = run(dynamics, 0.1, 1e-3, scheme=PaperStep(explicit=True))["kinetic_energy"].values
    assert np.all(np.diff(printed) > 0)


def test_a_strong_damper_only_takes_energy():
    bead = Body("bead", 1.0, position=(1.0, 0, 0), velocity=(1.0, 0, 0), point_mass=True)
    damper = SpringDamper("damper", Frame(None), Frame(bead), stiffness=0.0, damping=1e4)
    energy = run(assemble(Mechanism([bead]), [damper]), 0.02, 1e-3)["kinetic_energy"].values
    assert np.all(np.diff(energy) <= 1e-15)


@pytest.mark.slow
def test_a_damper_slows_exponentially():
    bead = Body("bead", 1.0, position=(1.0, 0, 0), velocity=(1.0, 0, 0), point_mass=True)
    damper = SpringDamper("damper", Frame(None), Frame(bead), stiffness=0.0, damping=2.0)
    v = run(assemble(Mechanism([bead]), [damper]), 1.0, 1e-3)["v"].values[-1, 0]
    assert v == pytest.approx(np.exp(-2.0), rel=1e-5)


def test_a_spring_too_stiff_for_the_step_does_not_explode():
    """h w = 4.5 at h_max: the step equations alone would multiply the energy by 300 a step."""
    bead = Body("bead", 1.0, position=(1e-3, 0, 0), point_mass=True)
    spring = SpringDamper("spring", Frame(None), Frame(bead), stiffness=2e7)
    result = run(assemble(Mechanism([bead]), [spring]), 0.01, StepBounds(1e-4, 1e-3))
    energy = result["total_energy"].values
    assert np.max(energy) < 3 * energy[0]


@pytest.mark.slow
@pytest.mark.parametrize("mass", [1e-6, 1e-3, 1e3, 1e5])
def test_sizes_far_from_one_solve(mass):
    """The motion of a pendulum does not depend on its mass."""

    def angle(m):
        arm = Body("arm", m, (0.1 * m, 0.1 * m, 0.1 * m), position=(1.0, 0, 0))
        hinge = Revolute("hinge", Frame(None), Frame.at(arm, (0, 0, 0)))
        dynamics = assemble(Mechanism([arm], [hinge]), gravity=(0, -9.81, 0))
        result = run(dynamics, 0.2, 1e-3)
        assert result.completed, result.stop_reason
        return result["q"].values[-1]

    assert angle(mass) == pytest.approx(angle(1.0), abs=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_start_needs_a_time(bad):
    dynamics = assemble(Mechanism([Body("b", 1.0, point_mass=True)]))
    q, v = dynamics.stated_start()
    with pytest.raises(ValueError, match=rf"start.t.*{bad}"):
        simulate(dynamics, Start(q, v, bad), 1.0, steps=StepBounds(1e-3, 1e-3), progress=False)


def test_limits_of_acceptance_are_positive_numbers():
    with pytest.raises(ValueError, match=r"motion.*nan"):
        Acceptance(motion=np.nan)


@pytest.mark.parametrize(
    ("kind", "turned"),
    [
        (Fixed, np.diag([1.0, -1.0, -1.0])),
        (Fixed, np.roll(np.eye(3), 1, axis=0)),
        (Revolute, np.diag([1.0, -1.0, -1.0])),
        (lambda *a: Screw(*a, pitch=0.1), np.diag([-1.0, -1.0, 1.0])),
    ],
)
def test_frames_turned_the_wrong_way_are_refused(kind, turned):
    """Products of their axes vanish too, but the joint is not closed."""
    body = Body("b", 1.0, (1, 1, 1))
    dynamics = assemble(
        Mechanism([body], [kind("j", Frame(None), Frame(body, axes=turned))], "absolute")
    )
    with pytest.raises(ValueError, match=r"'j'.*turned the wrong way"):
        run(dynamics, 0.1, 1e-2)


@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.9])
def test_linearised_gaps_do_not_pass_through_the_wall(place):
    c = 1e-3
    ball = Body("ball", 1.0, (1, 1, 1), position=(place * c, 0, 0), velocity=(-1.0, 0, 0))
    joint = SphericalClearance("joint", Frame(None), Frame(ball), clearance=c)
    result = run(
        assemble(Mechanism([ball]), [joint]),
        0.05,
        StepBounds(1e-4, 1e-2),
        scheme=PaperStep(closure=LinearisedClosure()),
    )
    assert result["gap"].min() > -0.51 * c


def test_force_is_impulse_over_h():
    """Also where a contact closes within the step, far from the wall at its start."""
    body = Body("b", 2.0, (1, 1, 1), position=(4e-4, 0, 0), velocity=(1.0, 0, 0))
    joint = SphericalClearance("joint", Frame(None), Frame(body), clearance=1e-3)
    data = run(assemble(Mechanism([body]), [joint]), 0.01, 1e-3).data
    momentum = 2.0 * np.diff(data["v"].values[:, 0])
    impulse = data["impulse"].values[1:, 0]
    force = data["contact_force"].values[1:, 0, 0]
    assert np.max(impulse) > 0.5
    assert impulse == pytest.approx(np.abs(momentum), abs=1e-12)
    assert force * data["h"].values[1:] == pytest.approx(momentum, abs=1e-12)


def test_newton_goes_on_where_heavy_bodies_need_it():
    """Its tolerance is over their weight: at first the equation of motion is off by 1.4e-9 N m."""
    arm = Body("arm", 100.0, (10.0, 10.0, 10.0), position=(0.5, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(arm, (0, 0, 0)))
    dynamics = assemble(Mechanism([arm], [hinge], "relative"), gravity=(0, -9.81, 0))
    result = run(dynamics, 0.02, 1e-3, scheme=Variational(), solver=Compiled())
    assert not np.any(result["retries"].values[1:])
    assert np.nanmax(result["motion_residual"]) < Acceptance().motion
