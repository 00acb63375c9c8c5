"""The switched motions of `switched` by `nsopt.trajectory`.

The order of the laws of the car is given, as phases; contact and dry friction are stated as they
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import process_time

import numpy as np
from common import Array
from scipy.optimize import brentq
from switched import (
    LATE,
    THRUST,
    TOP,
    TURBO,
    WAY,
    WEIGHT,
    Answer,
    Piece,
    Switched,
    effort,
    fitted,
)

from nsopt import (
    GROUND,
    Actuator,
    AppliedForce,
    Body,
    ContactLaw,
    Dynamics,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    Result,
    SlideFriction,
    StribeckLaw,
    assemble,
)
from nsopt.trajectory import (
    ActuatorLimits,
    Duration,
    Effort,
    EndAt,
    Horizon,
    InputEffort,
    MotionPhase,
    Quintic,
    StartAt,
    Straight,
    Within,
    optimize,
    optimize_phases,
)

UNIT = (1.0, 1.0, 1.0)
DOWN = (0.0, 0.0, -WEIGHT)
REST = 1e-9  # m/s
TURN = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
"""Axes of a plane along the z of the world, its normal along x."""


def carts(**limits: float) -> Mechanism:
    """Return a cart of 1 kg on a rail along z, driven."""
    cart = Body("cart", 1.0, UNIT)
    rail = Prismatic("rail", Frame(GROUND), Frame(cart))
    return Mechanism([cart], [rail], "relative", [Actuator("rail", **limits)])


def phased_car(problem: Switched, steps: int) -> Answer:
    """Return the car in three phases, its turbo in the second."""
    begin = process_time()
    slow = assemble(carts(effort=THRUST, velocity=LATE))
    fast = assemble(carts(effort=TURBO * THRUST, velocity=TOP))
    duration = Horizon((0.1, 20.0), steps // 3)
    at = (0.1 * WAY, 0.9 * WAY)
    swift, limits = Within("rail.speed", lower=LATE), ActuatorLimits()
    ends = [StartAt([0.0], [0.0]), EndAt([np.nan], [LATE]), EndAt([np.nan], [LATE])]
    phases = [
        MotionPhase(slow, duration, [Duration()], [*ends[:2], limits], Quintic([0.0], [at[0]])),
        MotionPhase(fast, duration, [Duration()], [ends[2], swift, limits], Quintic(None, [at[1]])),
        MotionPhase(
            slow, duration, [Duration()], [EndAt([WAY], [0.0]), limits], Quintic(None, [WAY])
        ),
    ]
    result = optimize_phases(phases)
    seconds = process_time() - begin
    gains = (1.0, TURBO, 1.0)
    control = [
        piece
        for phase, gain, t in zip(result.phases, gains, result.borders, strict=False)
        for piece in pieces(phase, gain, t)
    ]
    count = _iterations(result.phases[0])
    said = "solved" if result.completed else result.stop_reason.splitlines()[0]
    return Answer(seconds, count, result.objective, problem.end_error(control), said)


def rubbing_block(problem: Switched, steps: int) -> Answer:
    """Return the block on its rail, its friction exact on record."""
    begin = process_time()
    mechanism = carts()
    (rail,) = mechanism.joints
    dry = SlideFriction("dry", *rail.frames, StribeckLaw(1.0), _friction(problem))
    result = optimize(
        assemble(mechanism, [dry]),
        Horizon(problem.duration, steps),
        [Effort()],
        [StartAt(problem.start[:1], problem.start[1:]), EndAt(problem.end[:1], problem.end[1:])],
        Quintic(problem.start[:1], problem.end[:1]),
    )
    seconds = process_time() - begin
    control = pieces(result)
    return _answer(problem, result, control, seconds, _iterations(result), effort(control))


def lying_block(problem: Switched, steps: int) -> Answer:
    """Return the block on a floor, in contact by Coulomb's law, pushed."""
    begin = process_time()
    body = Body("block", 1.0, point_mass=True)
    law = ContactLaw(friction=_friction(problem) / WEIGHT)
    floor = PlaneContact("floor", Frame(GROUND), Frame(body), law=law, planar=True)
    push = AppliedForce("push", Frame(body), (Parameter("force", 0.0), 0.0, 0.0))
    here, there = ([x[0], 0.0, 0.0] for x in (problem.start, problem.end))
    result = optimize(
        assemble(Mechanism([body], coordinates="relative"), [floor, push], gravity=DOWN),
        Horizon(problem.duration, steps),
        [InputEffort(input="force")],
        [StartAt(here, [problem.start[1], 0.0, 0.0]), EndAt(there, [problem.end[1], 0.0, 0.0])],
        Straight(here, there),
        inputs=["force"],
    )
    seconds = process_time() - begin
    return _through_contact(problem, result, seconds, "input", 0)


def lifted_mass(problem: Switched, steps: int) -> Answer:
    """Return the mass on its rail, on a floor until it rises."""
    begin = process_time()
    mechanism = carts()
    floor = PlaneContact("floor", Frame(GROUND), Frame(mechanism.bodies[0]))
    start, end = problem.start, problem.end
    result = optimize(
        assemble(mechanism, [floor], gravity=DOWN),
        Horizon(problem.duration, steps),
        [Effort()],
        [StartAt(start[:1], start[1:]), EndAt(end[:1], end[1:])],
        Quintic(start[:1], end[:1]),
    )
    seconds = process_time() - begin
    return _through_contact(problem, result, seconds, "tau", 0)


def _friction(problem: Switched) -> float:
    """Return the dry friction of a block [N]."""
    return float(problem.rate(problem.start, 0.0, -1)[1])


def _iterations(result: Result) -> int:
    return round(float(result["iterations"].sum()))


def loaded_sled(problem: Switched, steps: int) -> Answer:
    """Return the sled, its block in contact by Coulomb's law."""
    begin = process_time()
    d = _sled()
    still, free = np.zeros(3), np.nan
    start, end = problem.start, problem.end
    q0 = [0.0, 0.0, start[2], start[0]]  # block x, y, z, sled
    v0 = [0.0, 0.0, start[3], start[1]]
    result = optimize(
        d,
        Horizon(problem.duration, steps),
        [Effort()],
        [StartAt(q0, v0), EndAt([0.0, 0.0, end[2], free], [*still, 0.0])],
        Straight(q0, [0.0, 0.0, 1.0, 1.0]),
    )
    seconds = process_time() - begin
    return _through_contact(problem, result, seconds, "tau", d.v_names.index("rail.speed"))


def _sled() -> Dynamics:
    below, above = Body("sled", 1.0, UNIT), Body("block", 1.0, point_mass=True)
    rail = Prismatic("rail", Frame(GROUND), Frame(below))
    law = ContactLaw(friction=1 / WEIGHT)
    bed = PlaneContact("bed", Frame(below, axes=TURN), Frame(above), law=law, planar=True)
    mechanism = Mechanism([below, above], [rail], "relative", [Actuator("rail")])
    return assemble(mechanism, [bed], gravity=(-WEIGHT, 0.0, 0.0))


def pieces(result: Result, gain: float = 1.0, begin: float = 0.0) -> list[Piece]:
    """Return the control of a motion, step by step, cut where its coordinate turns round."""

    def speed(at: float) -> float:
        return float(result.sample(times=[at])["v"].values[0, 0])

    t, v = result["time"].values, result["v"].values[:, 0]
    changed = np.flatnonzero((v[:-1] * v[1:] < 0) & (np.abs(v[:-1] * v[1:]) > REST**2))
    turns = [brentq(speed, t[k], t[k + 1], xtol=1e-14) for k in changed]
    return fitted(np.sort([*t, *turns]), partial(_drive, result, gain), begin)


def _drive(result: Result, gain: float, times: Array) -> Array:
    return np.asarray(result.sample(times=times)["tau"].values[:, 0] / gain)


def _through_contact(
    problem: Switched, result: Result, seconds: float, name: str, column: int
) -> Answer:
    """Return an exact optimum, its control a parabola in each step."""

    def control(at: Array) -> Array:
        return np.asarray(result.sample(times=at)[name].values[:, column])

    parts = fitted(result["time"].values, control, 0.0)
    found = _answer(problem, result, parts, seconds, _iterations(result), result.objective)
    return found if "contact_sequence" in result.data.attrs else found._replace(said="in steps")


def _answer(
    problem: Switched,
    result: Result,
    control: Sequence[Piece],
    seconds: float,
    count: int,
    optimum: float,
) -> Answer:
    said = "solved" if result.completed else result.stop_reason.split(":")[0]
    return Answer(seconds, count, optimum, problem.end_error(control), said)
