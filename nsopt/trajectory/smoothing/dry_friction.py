"""Dry friction over a horizon of polynomials: smoothed as far as the grid does not resolve it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from nsopt.elements import Prismatic
from nsopt.mechanics import Dynamics
from nsopt.mpcc import StructuredNlp
from nsopt.result import Result
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.node_sample import SHARP
from nsopt.trajectory.returned import call_costs
from nsopt.trajectory.transcription.base import Array, Transcription
from nsopt.trajectory.transcription.collocation import POINT_BLOCK, Collocation
from nsopt.trajectory.transcription.kinds import as_polynomials
from nsopt.trajectory.transcription.resting import RestingCollocation

WIDTH = 30.0
"""Steps, of all of them, to which the speed up to which friction is smoothed is in proportion."""

CREEP = 7
"""Which input of `Dynamics.smoothed_friction` is the creep."""

PARTS = 16
"""Of a step, in the middles of which costs are taken where friction is exact."""

AT_REST = 1e-2
"""Way of joints that a guess leaves at rest, as if they moved by that [rad, m]."""


def grid_creep(
    dynamics: Dynamics, horizon: Horizon, guess: Guess, inputs: Sequence[str]
) -> tuple[float, ...]:
    """Return the speeds up to which the grid smooths dry friction, one of each element.

    From rest to its speed and back a velocity changes by some times its mean over the number of
    steps in each step, and a sign that changes within less is none that quadrature sees. So the
    speed is `WIDTH` times that of the fastest joint that turns, or that slides: over 100 steps 0.3
    of its mean speed. It is zero, for the creep of the law itself, where a joint has no drive of
    its own, for there friction decides how it moves, and where the law has no sign.

    Parameters
    ----------
    dynamics : Dynamics
        Without internal states.
    horizon : Horizon
    guess : Guess
        Of which the mean speeds are.
    inputs : sequence of str
    """
    d = dynamics
    driven = {x.joint for x in d.mechanism.actuators}.intersection(d.v_owners)
    owners = [d.joint_names[k] for k in d.friction_joints]
    signed = set(d.smoothed_friction.jac_sparsity(0, CREEP).get_triplet()[1])
    counts = [k in signed and x in driven for k, x in enumerate(owners)]
    if not any(counts):
        return (0.0,) * len(owners)
    motion = guess.trajectory(np.linspace(0, 1, 101), horizon.bounds, inputs)
    means = dict(zip(d.v_owners, np.abs(motion.v).mean(axis=0).tolist(), strict=True))
    slides = {x.name: isinstance(x, Prismatic) for x in d.mechanism.joints}
    largest = {
        kind: max((means[x] for x in owners if x in driven and slides[x] == kind), default=0.0)
        for kind in (True, False)
    }
    at_rest = AT_REST / motion.duration
    return tuple(
        WIDTH / horizon.steps * max(largest[slides[x]], at_rest) if counted else 0.0
        for x, counted in zip(owners, counts, strict=True)
    )


def smooth_by_grid(transcription: Transcription, guess: Guess) -> Transcription:
    """Return a motion by polynomials with the dry friction that its grid resolves; else itself."""
    x = as_polynomials(transcription)
    if x is None or not x.creep:
        return transcription
    return x.with_creep(grid_creep(x.dynamics, x.horizon, guess, x.inputs))


def record_friction(transcription: Transcription) -> dict[str, Any]:
    """Return the attribute of a result that tells how friction was smoothed; none where it is not.

    A list of the speeds [rad/s, m/s] up to which that of each element is; and, where they are
    known, the modes of the elements in each step, null where friction is smoothed.
    """
    if not any(transcription.creep):
        return {}
    found = {"friction_smoothed": json.dumps(transcription.creep)}
    modes = transcription.friction_modes
    if modes is not None:
        rows = [[None if np.isnan(x) else int(x) for x in row] for row in modes]
        found["friction_modes"] = json.dumps(rows)
    return found


def cost_of(result: Result) -> float:
    """Return the cost by the exact sign of dry friction, which smoothing hides a part of."""
    exact: dict[str, float] = json.loads(result.data.attrs.get("exact_cost", "{}"))
    return sum(exact.values()) if exact else result.objective


def of_result(transcription: Transcription, result: Result) -> Transcription:
    """Return the motion of which a result is an optimum, with friction smoothed as there."""
    stated, x = result.data.attrs.get("friction_smoothed"), as_polynomials(transcription)
    if not stated or x is None:
        return transcription
    motion = x.with_creep(tuple(json.loads(stated)))
    rows = result.data.attrs.get("friction_modes")
    if not rows:
        return motion
    return RestingCollocation.of(motion, np.array(json.loads(rows), dtype=float))


def with_exact_sign(
    transcription: Transcription,
    nlp: StructuredNlp,
    x: Array,
    p: Array,
    costs: Mapping[str, float],
) -> dict[str, float]:
    """Return the values of costs with the exact sign of friction, of a motion of smoothed friction.

    Empty where nothing is smoothed.

    Parameters
    ----------
    transcription : Transcription
    nlp : StructuredNlp
        Its program.
    x : (size,)
        Unknowns.
    p : (np,)
        Parameters of the mechanism.
    costs : mapping of name to float
        Their values in the program, in the order of the costs.
    """
    motion = as_polynomials(transcription)
    if motion is None or not any(motion.creep):
        return {}
    fine, steps = motion.trajectory(x)[1], motion.horizon.steps
    rates = _rates(motion, len(p), len(costs))
    s = np.tile((np.arange(PARTS) + 0.5) / PARTS, steps)
    t, *at = motion.interpolate(fine, np.repeat(np.arange(steps), PARTS), s)
    numbers = np.tile(np.append(p, motion.fill_creep(SHARP))[:, None], len(t))
    values = np.asarray(rates.map(len(t))(t, np.hstack(at).T, numbers))
    # In place of the quadrature of the program, which sees three points of a step.
    sharp = values.mean(axis=1) * fine.duration
    more = sharp - _of_rates(nlp, x, motion.parameters(p))[: len(costs)]
    return {name: costs[name] + float(by) for name, by in zip(costs, more, strict=True)}


def _of_rates(nlp: StructuredNlp, x: Array, numbers: Array) -> Array:
    """Return the integrals of the rates of all costs as a program of polynomials has them."""
    total = np.zeros(nlp.terms.numel_out(0))
    for block in nlp.blocks:
        if block.name == POINT_BLOCK:
            given = (x[block.columns].T, block.data.T, np.tile(numbers[:, None], block.count))
            total += np.asarray(block.function.map(block.count)(*given)[1]).sum(axis=1)
    return total


def _rates(motion: Collocation, parameters: int, costs: int) -> ca.Function:
    """Return (t, unknowns of a node, parameters with creep) -> rates of the first costs."""
    sizes = 1, motion.node_size, parameters + len(motion.creep)
    symbols = [ca.SX.sym(name, n) for name, n in zip("txp", sizes, strict=True)]
    m = motion.sample(*symbols)
    rates = call_costs(motion.costs[:costs], "rate", m)
    return ca.Function("rates", symbols, [ca.densify(rates)], {"cse": True})


def exact_costs(
    transcription: Transcription,
    nlp: StructuredNlp,
    motions: Mapping[str, tuple[Array, dict[str, float]]],
    p: Array,
) -> dict[str, str]:
    """Return attributes of a result: costs by the exact sign of friction, where it is smoothed.

    Parameters
    ----------
    transcription : Transcription
    nlp : StructuredNlp
        Its program.
    motions : mapping of attribute to (unknowns, costs by name)
    p : (np,)
        Parameters of the mechanism.
    """
    found = {
        name: with_exact_sign(transcription, nlp, x, p, costs)
        for name, (x, costs) in motions.items()
    }
    return {name: json.dumps(costs) for name, costs in found.items() if costs}
