"""Friction that stays below its limit, in steps and in phases, in the plane and in space.

A block of 1 kg lies on a tray of 2 kg that is pushed along x, by friction alone: in the shortest
time it is sped up, then slowed down, at what friction lets it.
"""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Actuator,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    PlaneContact,
    Prismatic,
    assemble,
)
from nsopt.caveats import caveats
from nsopt.trajectory import (
    IN_STEPS,
    PLAN,
    ContactPhase,
    Duration,
    During,
    Effort,
    EndAt,
    ExactContacts,
    FrictionMargin,
    Horizon,
    MotionPhase,
    Quintic,
    Sliding,
    StartAt,
    Sticking,
    optimize,
    optimize_phases,
)

MU, G, WAY = 0.5, 9.81, 1.0
MARGIN = FrictionMargin(0.2)
REST = np.zeros(4)


def tray(mass=2.0, *, planar=False, friction=MU):
    """The tray on a rail along x, and on it a block, a point mass."""
    below, block = Body("tray", mass, np.full(3, mass)), Body("block", 1.0, point_mass=True)
    rail = Prismatic("rail", Frame(GROUND, axes=(1, 0, 0)), Frame(below, axes=(1, 0, 0)))
    law = ContactLaw(friction=friction)
    bed = PlaneContact("bed", Frame(below), Frame(block), law=law, planar=planar)
    mechanism = Mechanism([below, block], [rail], "relative", [Actuator("rail")])
    return assemble(mechanism, [bed], (0, 0, -G))


def ends(d):
    far = [WAY if x in ("rail.distance", "block.x") else 0.0 for x in d.q_names]
    return [StartAt(REST, REST), EndAt(far, REST)], Quintic(np.zeros(4), far, duration=1.0)


def carry(d, duration, conditions, plan=PLAN):
    """At least effort."""
    stated, guess = ends(d)
    return optimize(d, Horizon(duration, 20), [Effort()], [*stated, *conditions], guess, plan=plan)


def in_phases(d, duration, conditions, mode=None):
    """Two phases: the force may jump between them."""
    (start, end), _ = ends(d)
    half = [x / 2 for x in end.q]
    states = [[start], [end]]
    guesses = [Quintic(REST, half, duration=0.5), Quintic(half, end.q, duration=0.5)]
    modes = {"bed": mode or Sticking()}
    return optimize_phases(
        [
            MotionPhase(
                d, Horizon((0.05, 2.0), 6), [Duration()], [*own, *conditions], guess, modes=modes
            )
            for own, guess in zip(states, guesses, strict=True)
        ],
        duration=duration,
    )


def find_acceleration(result):
    """The largest acceleration of the block along x [m/s^2]."""
    column = [str(x) for x in result["v_name"].values].index("block.vx")
    return np.abs(result["acceleration"].values[:, column]).max()


def shortest(share):
    """The time of speeding up and slowing down by a share of what friction lets."""
    return 2 * np.sqrt(WAY / (share * MU * G))


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize(("conditions", "share"), [([], 1.0), ([MARGIN], 0.8)])
def test_phases_are_as_fast_as_the_smaller_cone_lets(planar, conditions, share):
    best = in_phases(tray(planar=planar), (0.2, 3.0), conditions)
    assert best.completed, best.stop_reason
    assert best.objective == pytest.approx(shortest(share), rel=1e-2)
    most = max(find_acceleration(x) for x in best.phases)
    assert 0.99 * share * MU * G < most < share * MU * G * (1 + 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("planar", [True, False])
def test_steps_keep_the_margin(planar):
    duration = 1.02 * shortest(0.8)
    best = carry(tray(planar=planar), duration, [MARGIN], plan=IN_STEPS)
    assert best.completed, best.stop_reason
    force = best["contact_force"].values[1:, 0]
    share = np.linalg.norm(force[:, :2], axis=1) / (MU * force[:, 2])
    assert share.max() == pytest.approx(0.8, rel=1e-4)


@pytest.mark.slow
def test_an_exact_motion_keeps_it_all_along_or_for_a_part():
    """Least effort in little more than the shortest time: beyond the margin where it may."""
    d, duration = tray(planar=True), 1.02 * shortest(0.8)
    found = {x: carry(d, duration, [x]) for x in (MARGIN, During(MARGIN, 0.5, 1.0))}
    used = []
    for best in found.values():
        assert best.completed, best.stop_reason
        assert "not_exact" not in best.data.attrs
        force = best["contact_force"].values[1:, 0]
        share = np.abs(force[:, 0]) / (MU * force[:, 2])
        late = best["time"].values[1:] > 0.5 * duration + 1e-9
        used.append((share[~late].max(), share[late].max()))
    whole, part = used
    assert whole == pytest.approx((0.8, 0.8), abs=2e-3)
    assert part[1] == pytest.approx(0.8, abs=2e-3)
    assert part[0] > 0.81


@pytest.mark.unit
@pytest.mark.parametrize("margin", [0.0, 1.0, -0.2, np.nan])
def test_what_is_no_share_is_refused(margin):
    with pytest.raises(ValueError, match="margin of FrictionMargin"):
        FrictionMargin(margin)


@pytest.mark.parametrize(
    ("contacts", "friction", "kind", "message"),
    [
        (["belt"], MU, ValueError, "names the contact 'belt', which is not in .*: one of bed"),
        ("bed", MU, TypeError, r"must be a list, got 'bed': write \['bed'\]"),
        (None, 0.0, ValueError, "is of no contact, as none has friction: give one a ContactLaw"),
    ],
)
def test_contacts_that_it_is_not_of_are_refused(contacts, friction, kind, message):
    with pytest.raises(kind, match=message):
        carry(tray(friction=friction), 1.0, [FrictionMargin(0.2, contacts)])


@pytest.mark.parametrize(
    ("condition", "mode", "message"),
    [
        (MARGIN, Sliding(), "'bed' slides, its friction at the limit that FrictionMargin keeps"),
        (During(MARGIN, 0.2, 0.5), Sticking(), "FrictionMargin is of whole phases: divide the"),
    ],
)
def test_phases_that_cannot_keep_it_are_refused(condition, mode, message):
    with pytest.raises(ValueError, match=message):
        in_phases(tray(planar=True), (0.2, 3.0), [condition], mode=mode)


@pytest.mark.slow
def test_at_one_node_it_stays_in_steps():
    best = carry(tray(planar=True), 1.0, [During(MARGIN, 0.5)])
    assert "During(FrictionMargin) is of one node" in best.data.attrs["not_exact"]


@pytest.mark.slow
def test_friction_beyond_a_rounded_cone_is_told():
    """On a tray of 1000 kg the tip of the cone is wide: the block is sped up too fast."""
    light, heavy = (in_phases(tray(mass), (0.2, 3.0), []) for mass in (2.0, 1000.0))
    assert all("cone" not in x for y in light.phases for x in caveats(y.data))
    assert heavy.objective < 0.95 * shortest(1.0)
    for phase in heavy.phases:
        told = phase.data.attrs["cone_excess"]
        assert told == pytest.approx(find_acceleration(phase) / (MU * G) - 1, rel=1e-3)
        assert any("friction of bed exceeds its limit by" in x for x in caveats(phase.data))


@pytest.mark.slow
def test_an_exact_motion_tells_so_too():
    """At least effort; in steps the cone is exact, and friction at its limit."""
    sequence = [ContactPhase({"bed": Sticking()}, 1.0)]
    plan = PLAN.with_others(ExactContacts(sequence=sequence, trials=0))
    best = carry(tray(1000.0), 1.05 * shortest(1.0), [], plan)
    told = best.data.attrs["cone_excess"]
    assert told == pytest.approx(find_acceleration(best) / (MU * G) - 1, rel=1e-2)
    assert told > 0.1
