"""Dry friction over a horizon of polynomials: smoothed as far as the grid does not resolve it.

Measured in docs/measured/trajectory.md, "Dry friction of joints with drives".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.elements import Prismatic
from nsopt.mechanics import Dynamics
from nsopt.mpcc import HorizonPlace, StructuredNlp
from nsopt.result import Result
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.node_sample import SHARP
from nsopt.trajectory.returned import call_costs
from nsopt.trajectory.transcription.base import Transcription
from nsopt.trajectory.transcription.kinds import as_polynomials
from nsopt.trajectory.transcription.resting import RestingCollocation

WIDTH = 30.0
"""Creep over the mean speed of the fastest joint, times the number of steps: see
`compute_grid_creep`."""

CREEP_INPUT = 7  # index of the creep among the inputs of `Dynamics.smoothed_friction`
INTERVALS = 16  # intervals of a step, in whose middles costs with exact friction are taken
LEAST_WAY = 1e-2  # way that counts as that of joints which a guess leaves at rest [rad, m]


def find_rubbing(d: Dynamics) -> list[bool]:
    """Return of each `JointFriction` whether its joint has a drive and its law a sign of the speed.

    Of such a one friction is smoothed over a horizon.
    """
    driven = set(d.mechanism.driven_joints).intersection(d.v_owners)
    with_creep = set(d.smoothed_friction.jac_sparsity(0, CREEP_INPUT).get_triplet()[1])
    joints = enumerate(d.joint_names[k] for k in d.friction_joints)
    return [k in with_creep and x in driven for k, x in joints]


def find_rubbing_joints(d: Dynamics) -> tuple[str, ...]:
    """Return the joints with a drive and dry friction, which slide either way, or rest."""
    pairs = zip(d.friction_joints, find_rubbing(d), strict=True)
    return tuple(dict.fromkeys(d.joint_names[k] for k, rubs in pairs if rubs))


def find_turning_joints(d: Dynamics) -> tuple[str, ...]:
    """Return the joints of `find_rubbing_joints` that turn."""
    slides = {x.name for x in d.mechanism.joints if isinstance(x, Prismatic)}
    return tuple(x for x in find_rubbing_joints(d) if x not in slides)


def compute_grid_creep(
    dynamics: Dynamics, horizon: Horizon, guess: Guess, inputs: Sequence[str]
) -> tuple[float, ...]:
    """Return the creep of each element: the speed up to which the grid smooths its dry friction.

    In each step a velocity changes by a few times its mean over the number of steps; a sign that
    changes within a smaller speed is not seen by the quadrature. So the creep is `WIDTH` over the
    number of steps, times the mean speed of the fastest joint that turns, or that slides: over 100
    steps 0.3 of it. It is zero, for the creep of the law itself, where a joint has no drive of its
    own, since friction decides there how it moves, and where the law has no sign. The guess gives
    the mean speeds.
    """
    d = dynamics
    driven = set(d.mechanism.driven_joints).intersection(d.v_owners)
    joints = [d.joint_names[k] for k in d.friction_joints]
    is_smoothed = find_rubbing(d)
    if not any(is_smoothed):
        return (0.0,) * len(joints)
    motion = guess.trajectory(np.linspace(0, 1, 101), horizon.bounds, inputs)
    means = dict(zip(d.v_owners, np.abs(motion.v).mean(axis=0).tolist(), strict=True))
    slides = {x.name: isinstance(x, Prismatic) for x in d.mechanism.joints}
    fastest = {
        kind: max((means[x] for x in joints if x in driven and slides[x] == kind), default=0.0)
        for kind in (True, False)
    }
    least = LEAST_WAY / motion.duration
    return tuple(
        WIDTH / horizon.steps * max(fastest[slides[x]], least) if smoothed else 0.0
        for x, smoothed in zip(joints, is_smoothed, strict=True)
    )


def smooth_by_grid(transcription: Transcription, guess: Guess) -> Transcription:
    """Return a motion by polynomials with dry friction smoothed by its grid; others as they are."""
    x = as_polynomials(transcription)
    if x is None or not x.creep:
        return transcription
    return x.with_creep(compute_grid_creep(x.dynamics, x.horizon, guess, x.inputs))


def record_friction(transcription: Transcription) -> dict[str, Any]:
    """Return the attributes ``friction_smoothed`` and ``friction_modes``; none without smoothing.

    The creep of each element [rad/s, m/s]; and, where they are known, the modes of the elements in
    each step, null where friction is smoothed: see `RestingCollocation`.
    """
    if not any(transcription.creep):
        return {}
    found = {"friction_smoothed": json.dumps(transcription.creep)}
    modes = transcription.friction_modes
    if modes is not None:
        rows = [[None if np.isnan(x) else int(x) for x in row] for row in modes]
        found["friction_modes"] = json.dumps(rows)
    return found


def read_exact_cost(result: Result) -> float:
    """Return the cost of an optimum with exact dry friction; smoothed, it costs less."""
    return read_recorded_cost(result.data.attrs)


def read_recorded_cost(attrs: Mapping[Any, Any]) -> float:
    """Return `read_exact_cost`, by the attributes of the optimum."""
    exact: dict[str, float] = json.loads(attrs.get("exact_cost", "{}"))
    return sum(exact.values()) if exact else float(attrs["objective"])


def restore_friction(transcription: Transcription, result: Result) -> Transcription:
    """Return a motion with friction smoothed as in its optimum, by `record_friction`."""
    creep, x = result.data.attrs.get("friction_smoothed"), as_polynomials(transcription)
    if not creep or x is None:
        return transcription
    motion = x.with_creep(tuple(json.loads(creep)))
    rows = result.data.attrs.get("friction_modes")
    if not rows:
        return motion
    return RestingCollocation.of(motion, np.array(json.loads(rows), dtype=float))


def sum_exact_costs(
    transcription: Transcription, nlp: StructuredNlp, x: Array, p: Array, count: int
) -> float:
    """Return the sum of the first ``count`` costs, with exact dry friction."""
    terms = np.asarray(nlp.terms(x, transcription.parameters(p))).ravel()
    costs = {str(k): float(value) for k, value in enumerate(terms[:count])}
    return sum((compute_exact_costs(transcription, nlp, x, p, costs) or costs).values())


def compute_exact_costs(
    transcription: Transcription, nlp: StructuredNlp, x: Array, p: Array, costs: Mapping[str, float]
) -> dict[str, float]:
    """Return costs with exact dry friction of a motion found with smoothed friction, by name.

    Empty where nothing is smoothed. ``costs`` are those with smoothed friction, in their order,
    ``x`` the unknowns, ``p`` the parameters of the mechanism.
    """
    motion = as_polynomials(transcription)
    if motion is None or not any(motion.creep):
        return {}
    fine, steps = motion.trajectory(x)[1], motion.horizon.steps
    sizes = 1, motion.node_size, len(p) + len(motion.creep)
    symbols = [ca.SX.sym(name, n) for name, n in zip("txp", sizes, strict=True)]
    stated = call_costs(motion.costs[: len(costs)], "rate", motion.sample(*symbols))
    rates = ca.Function("rates", symbols, [ca.densify(stated)], {"cse": True})
    s = np.tile((np.arange(INTERVALS) + 0.5) / INTERVALS, steps)
    t, *state = motion.interpolate(fine, np.repeat(np.arange(steps), INTERVALS), s)
    exact_creep = np.where(np.array(motion.creep) > 0, SHARP, 0.0)
    parameters = np.tile(np.append(p, exact_creep)[:, None], len(t))
    values = np.asarray(rates.map(len(t))(t, np.hstack(state).T, parameters))
    # In place of the quadrature of the program, which sees three points of a step.
    exact = values.mean(axis=1) * fine.duration
    change = exact - _integrate_rates(nlp, x, motion.parameters(p))[: len(costs)]
    return {name: costs[name] + float(by) for name, by in zip(costs, change, strict=True)}


def _integrate_rates(nlp: StructuredNlp, x: Array, parameters: Array) -> Array:
    """Return the integrals of the rates of all costs, (k,), by the quadrature of the program."""
    total = np.zeros(nlp.terms.numel_out(0))
    for block in nlp.blocks:
        if block.place in (HorizonPlace.NODES, HorizonPlace.MIDDLES) and block.span is None:
            p = np.tile(parameters[:, None], block.count)
            terms = block.function.map(block.count)(x[block.columns].T, block.data.T, p)[1]
            total += np.asarray(terms).sum(axis=1)
    return total
