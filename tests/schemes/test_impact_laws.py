"""Laws of impact with friction: single impacts by hand, Kane's paradox, energy."""

from functools import cache

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Compiled,
    ContactLaw,
    EnergeticImpact,
    Frame,
    Mechanism,
    MoreauJean,
    Parameter,
    PlaneContact,
    PoissonImpact,
    Revolute,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.mechanics import Start
from tests.schemes.models import UPRIGHT, G, about_z

H = 1e-7
"""Steps [s], in which bodies move by next to nothing."""

DOWN = -np.pi / 2


def name(scheme):
    return repr(scheme)


def schemes(impact):
    return [
        Variational(impact=impact),
        MoreauJean(impact=impact),
        MoreauJean(project=True, impact=impact),
    ]


POISSON, ENERGETIC = schemes(PoissonImpact()), schemes(EnergeticImpact())
EVERY = [Variational(), MoreauJean(), MoreauJean(project=True), *POISSON]
LAW = ContactLaw(restitution=Parameter("e", 0.5), friction=Parameter("mu", 0.5))


def floor(name, body, point):
    across = Frame(GROUND, (0, 0, 0), UPRIGHT)
    return PlaneContact(name, across, Frame(body, point), planar=True, law=LAW)


@cache
def rod(both=False):
    """A rod of 1 kg and 1 m in the plane, whose end at -y (or both) may hit a floor."""
    body = Body("rod", 1.0, (1 / 12, 1 / 12, 1 / 12))
    ends = [floor("lower", body, (0, -0.5, 0))]
    ends += [floor("upper", body, (0, 0.5, 0))] if both else []
    return assemble(Mechanism([body]), ends)


@cache
def pendulum():
    """Two rods of 1 kg and 1 m that hang; the free end may hit a floor."""
    arm, forearm = (Body(x, 1.0, (0.0, 1 / 12, 1 / 12)) for x in ("arm", "forearm"))
    joints = [
        Revolute("shoulder", Frame(GROUND, (0, height(), 0)), Frame(arm, (-0.5, 0, 0))),
        Revolute("elbow", Frame(arm, (0.5, 0, 0)), Frame(forearm, (-0.5, 0, 0))),
    ]
    tip = floor("tip", forearm, (0.5, 0, 0))
    return assemble(Mechanism([arm, forearm], joints, coordinates="relative"), [tip])


POSE = np.radians([20.0, 30.0])
"""Of both rods from the vertical, as of Kane and Levinson's double pendulum."""

SWING = np.array([-0.1, -0.2])
"""Their speeds [rad/s]."""


def height():
    return np.cos(POSE).sum()


def struck(dynamics, q, v, scheme, e, mu):
    """The velocity after an impact in the first step."""
    result = simulate(
        dynamics,
        Start(np.asarray(q), np.asarray(v)),
        H,
        steps=StepBounds(H, H),
        scheme=scheme,
        solver=Compiled(chunk=10),
        parameters={"e": e, "mu": mu},
        progress=False,
    )
    assert result.completed, result.stop_reason
    return result.data["v"].values[-1], result


def by_hand(delassus, u, e, mu, newton=False):
    """Impulses (normal, tangential) of one contact, whose velocity is u = (normal, tangential).

    Of each phase the one of all alternatives (closes or not, sticks or slips) that is consistent.
    """
    if newton:
        return _phase(delassus, u, 0.0, mu, -e * u[0])[0]
    first, reached = _phase(delassus, u, 0.0, mu, 0.0)
    return first + _phase(delassus, reached, e * first[0], mu, 0.0)[0]


def _phase(delassus, u, given, mu, least):
    """Impulses of a phase with at least ``given``, that ends at ``least`` at least; its end."""
    start = u + delassus[:, 0] * given
    for closed in (False, True):
        for slips in (0, 1, -1):
            rows, known = np.eye(2), np.array([0.0, 0.0])
            if closed:
                rows[0], known[0] = delassus[0], least - start[0]
            if slips:
                rows[1], known[1] = (slips * mu, 1.0), -slips * mu * given
            else:
                rows[1], known[1] = delassus[1], -start[1]
            more, slip = np.linalg.solve(rows, known)
            end = start + delassus @ (more, slip)
            within = abs(slip) <= mu * (given + more) + 1e-12
            right = slips * end[1] >= -1e-12
            if more >= -1e-12 and end[0] >= least - 1e-12 and within and right:
                return np.array([given + more, slip]), end
    raise AssertionError("no alternative is consistent")


def planar(v):
    return np.asarray(v)[[0, 1, 5]]


def poses(count, seed, both=False):
    """Random impacts of a rod: pose, velocity, (2 or 4, 3) directions of contact velocities."""
    rng = np.random.default_rng(seed)
    while count:
        angle = np.pi / 2 if both else rng.uniform(-1.3, 1.3)
        up = np.array([-np.sin(angle), np.cos(angle)])
        tips = [-0.5 * up, 0.5 * up] if both else [-0.5 * up]
        q = (
            np.array([*-tips[0], 0, *about_z(angle)])
            if not both
            else np.array([0, 0, 0, *about_z(angle)])
        )
        v = np.zeros(6)
        v[[0, 1, 5]] = rng.normal(size=3) * (1, 1, 3)
        J = np.array([row for x, y in tips for row in ((0, 1, x), (1, 0, -y))])
        if np.min((J @ planar(v))[::2]) < -0.1:
            count -= 1
            yield q, v, J


INERTIA = np.diag([1.0, 1.0, 1 / 12])


def energy(v):
    return planar(v) @ INERTIA @ planar(v) / 2


@pytest.mark.parametrize("scheme", EVERY, ids=name)
def test_a_rod_strikes_a_rough_floor(scheme):
    """Velocities by hand, whether the end sticks, slips on or slips back."""
    rng = np.random.default_rng(5)
    newton = not isinstance(scheme.impact, PoissonImpact)
    for q, v, J in poses(8, 1):
        e, mu = rng.uniform(0, 0.6), rng.uniform(0, 1)
        inverse = np.linalg.inv(INERTIA)
        impulse = by_hand(J @ inverse @ J.T, J @ planar(v), e, mu, newton)
        expected = planar(v) + inverse @ J.T @ impulse
        if newton and energy_of(expected) > energy(v):
            continue  # that is taken by another law
        after, _ = struck(rod(), q, v, scheme, e, mu)
        assert planar(after) == pytest.approx(expected, abs=1e-5)


def energy_of(planar_v):
    return planar_v @ INERTIA @ planar_v / 2


@pytest.mark.slow
@pytest.mark.parametrize("scheme", POISSON, ids=name)
def test_no_energy_is_gained_in_a_hundred_impacts(scheme):
    """Of both ends; what one end does is known by hand, above."""
    rng = np.random.default_rng(7)
    for q, v, _ in poses(100, 2, True):
        e, mu = rng.uniform(0, 1), rng.uniform(0, 1.5)
        after, _ = struck(rod(True), q, v, scheme, e, mu)
        assert energy(after) <= energy(v) * (1 + 1e-5)


def kanes(newton, e=0.5, mu=0.5):
    """Speeds of both rods after the impact, by hand; their kinetic energies before and after."""
    apart = np.cos(POSE[0] - POSE[1]) / 2
    mass = np.array([[4 / 3, apart], [apart, 1 / 3]])
    J = np.array([np.sin(POSE), np.cos(POSE)])
    delassus = J @ np.linalg.solve(mass, J.T)
    after = SWING + np.linalg.solve(mass, J.T @ by_hand(delassus, J @ SWING, e, mu, newton))
    return after, SWING @ mass @ SWING / 2, after @ mass @ after / 2


def swung(scheme):
    first, second = POSE
    q, v = (DOWN + first, second - first), (SWING[0], SWING[1] - SWING[0])
    return struck(pendulum(), q, v, scheme, 0.5, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", POISSON, ids=name)
def test_kanes_paradox_is_none_by_poissons_law(scheme):
    expected, before, after = kanes(newton=False)
    assert after < 0.6 * before
    v, result = swung(scheme)
    assert np.cumsum(v) == pytest.approx(expected, abs=1e-6)
    lost = float(np.nansum(result.data["contact_loss"].values))
    assert lost == pytest.approx(before - after, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", schemes(impact=Variational().impact), ids=name)
def test_kanes_paradox_by_newtons_law_is_taken_by_poissons_and_told(scheme):
    _, before, after = kanes(newton=True)
    assert after > 1.5 * before
    expected, *_ = kanes(newton=False)
    v, result = swung(scheme)
    assert np.cumsum(v) == pytest.approx(expected, abs=1e-6)
    (reason,) = (text for text in result["step_reason"].values if "with" in text)
    assert reason.endswith("with PoissonImpact")
    assert "by " not in reason
    assert any("of work by contacts" in text for text in result["tried"].values)
    assert result.warnings[0].startswith("in 1 of")
    assert "another one took its place" in result.warnings[0]


@pytest.mark.parametrize("scheme", POISSON, ids=name)
def test_a_fallback_keeps_the_law_that_gives_no_energy(scheme):
    while scheme is not None:
        assert isinstance(scheme.impact, PoissonImpact)
        scheme = scheme.fallback


@pytest.mark.slow
@pytest.mark.parametrize("scheme", POISSON, ids=name)
def test_without_restitution_all_laws_are_one(scheme):
    """And where the centre of mass is above the contact, for any e: the rod stands upright."""
    newton = dict(zip(POISSON, EVERY[:3], strict=True))[scheme]
    for q, v, _ in poses(5, 3):
        both = [struck(rod(), q, v, x, 0.0, 0.7)[0] for x in (scheme, newton)]
        assert both[0] == pytest.approx(both[1], abs=1e-6)
    standing = np.array([0, 0.5, 0, *about_z(0.0)])
    for e in (0.3, 0.8, 1.0):
        v = np.array([0, -1.0, 0, 0, 0, 0])
        both = [struck(rod(), standing, v, x, e, 0.7)[0] for x in (scheme, newton)]
        assert both[0] == pytest.approx([0, e, 0, 0, 0, 0], abs=1e-6)
        assert both[1] == pytest.approx(both[0], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [*POISSON, *ENERGETIC], ids=name)
def test_what_lies_still_stays_though_it_is_compressed(scheme):
    """Compression by the weight is not given back: a rod across its floor, e = 0.9, leaned on."""
    body = Body("rod", 1.0, (1 / 12, 1 / 12, 1 / 12), orientation=about_z(np.pi / 2))
    law = ContactLaw(restitution=0.9, friction=0.5)
    across = Frame(GROUND, (0, 0, 0), UPRIGHT)
    ends = [
        PlaneContact(k, across, Frame(body, (0, y, 0)), planar=True, law=law)
        for k, y in (("lower", -0.5), ("upper", 0.5))
    ]
    d = assemble(Mechanism([body]), ends, (0.4 * G, -G, 0))
    data = simulate(
        d,
        duration=0.05,
        steps=StepBounds(1e-4, 1e-3),
        scheme=scheme,
        solver=Compiled(),
        progress=False,
    ).data
    assert data.attrs["completed"], data.attrs["stop_reason"]
    assert np.abs(data["v"].values).max() < 1e-9
    assert np.abs(data["q"].values - data["q"].values[0]).max() < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [*POISSON[::2], *ENERGETIC[::2]], ids=name)
def test_a_rod_that_gains_by_newtons_law_comes_to_its_end(scheme):
    body = Body(
        "rod",
        1.0,
        (1 / 12, 1 / 12, 1 / 12),
        position=(0, 1.0, 0),
        orientation=about_z(0.6),
        velocity=(0.5, 0, 0),
        angular_velocity=(0, 0, 1.0),
    )
    law = ContactLaw(restitution=0.97, friction=0.64)
    across = Frame(GROUND, (0, 0, 0), UPRIGHT)
    ends = [
        PlaneContact(k, across, Frame(body, (0, y, 0)), planar=True, law=law)
        for k, y in (("lower", -0.5), ("upper", 0.5))
    ]
    d = assemble(Mechanism([body]), ends, (0, -G, 0))
    steps = StepBounds(1e-5, 1e-3)
    result = simulate(
        d, duration=1.5, steps=steps, scheme=scheme, solver=Compiled(), progress=False
    )
    assert result.completed, result.stop_reason
    energy = result.data["total_energy"].values
    assert np.max(energy - np.minimum.accumulate(energy)) < 1e-3 * energy[0]
