"""Checks of the arguments of `optimize`, of what its costs depend on, and of where it starts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, check_rate_rows
from nsopt.mpcc import Solver, StructuredNlp
from nsopt.result import Result
from nsopt.schemes import Scheme
from nsopt.trajectory.conditions import Condition, EndAt, StartAt
from nsopt.trajectory.costs import Cost, InputEffort, flattened
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.task import Task
from nsopt.trajectory.transcription.base import Transcription

FAR = 10.0
"""Distance from the wall, over the clearance, up to which a pin may begin outside its bore without
a warning: beyond that a guess was not meant to hold the joint together."""

EXAMPLES: dict[type, str] = {  # of each type of argument, for messages
    Dynamics: "assemble(mechanism, elements)",
    Horizon: "Horizon(duration, steps)",
    Cost: "Effort()",
    Condition: "StartAt(q, v)",
    Guess: "Quintic(start, end)",
    Scheme: "Variational()",
    Solver: "Solver()",
}


def check_arguments(task: Task) -> Guess:
    """Return the guess as placed, once all arguments of `optimize` are found to fit together."""
    dynamics, costs, inputs = task.dynamics, task.costs, task.inputs
    _check_kind("dynamics", dynamics, Dynamics)
    _check_kind("horizon", task.horizon, Horizon)
    _check_each("costs", costs, Cost)
    _check_each("conditions", task.conditions, Condition)
    _check_kind("guess", task.guess, Guess)
    _check_names(inputs, task.parameters)
    if task.scheme is not None:
        _check_kind("scheme", task.scheme, Scheme)
    _check_kind("solver", task.solver, Solver)
    if not flattened(costs):
        raise ValueError("an optimum needs a cost: give Effort(), Duration(), ...")
    for cost in costs:
        cost.check(dynamics)
    _check_inputs(dynamics, flattened(costs), inputs)
    for condition in task.conditions:
        condition.check(dynamics)
    guess = task.guess.placed(dynamics, task.conditions, task.parameters)
    # All times at which any transcription evaluates the guess.
    share = np.linspace(0, 1, 2 * task.horizon.steps + 1)
    trajectory = guess.trajectory(share, task.horizon.bounds, inputs)
    trajectory = trajectory.with_internal_states(dynamics)
    trajectory.check(type(guess).__name__, dynamics, inputs)
    check_rate_rows(dynamics, 0.0, trajectory.q[0], dynamics.values(task.parameters))
    return guess


def _check_kind(what: str, value: Any, kind: type) -> None:
    if isinstance(value, kind):
        return
    remedy = f"give {EXAMPLES[kind]}"
    if isinstance(value, type) and issubclass(value, kind):
        remedy = f"write {value.__name__}(...)"
    elif kind is Guess and isinstance(value, Result):
        remedy = "give Earlier(result)"
    raise TypeError(f"{what} of optimize must be a {kind.__name__}, got {_short(value)}: {remedy}")


def _check_each(what: str, values: Any, kind: type) -> None:
    if isinstance(values, kind):
        name = type(values).__name__
        raise TypeError(
            f"{what} of optimize must be a list, got one {name} alone: write [{name}(...)]"
        )
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise TypeError(
            f"{what} of optimize must be a list of {kind.__name__}, got {_short(values)}: "
            f"write [{EXAMPLES[kind]}]"
        )
    for k, value in enumerate(values):
        _check_kind(f"{what}[{k}]", value, kind)


def _check_names(inputs: Any, parameters: Mapping[str, float] | None) -> None:
    known = isinstance(inputs, Sequence) and all(isinstance(name, str) for name in inputs)
    if not known or isinstance(inputs, str):
        remedy = f"write [{inputs!r}]" if isinstance(inputs, str) else "write ['name', ...]"
        raise TypeError(
            "inputs of optimize must be a list of names of Parameters, got "
            f"{_short(inputs)}: {remedy}"
        )
    if parameters is not None and not isinstance(parameters, Mapping):
        raise TypeError(
            f"parameters of optimize must map names to values, got {_short(parameters)}: write "
            "{'name': value}"
        )
    if len(set(inputs)) < len(inputs):
        raise ValueError(f"inputs of optimize name one twice: {', '.join(inputs)}")
    for name in inputs:
        if name in (parameters or {}):
            raise ValueError(
                f"parameter {name!r} is an input, which the optimum chooses: leave its value out, "
                "or bound it by Within"
            )


def _check_inputs(dynamics: Dynamics, costs: Sequence[Cost], inputs: Sequence[str]) -> None:
    """Refuse costs of names that are no inputs, and inputs that are not forces."""
    for cost in costs:
        if isinstance(cost, InputEffort) and cost.input not in inputs:
            raise ValueError(
                f"InputEffort names {cost.input!r}, which is not among the inputs: give optimize "
                f"inputs=[{cost.input!r}]"
            )
    d = dynamics
    names = d.parameter_names
    sizes = {"t": 1, "q": d.nq, "p": len(names)}
    x = {name: ca.SX.sym(name, n) for name, n in sizes.items()}
    stated = [
        function(*(x[name] for name in function.name_in()))
        for function in (d.mass, d.closure, d.gap, d.gap_scale, d.clearance)
    ]
    shape = ca.vertcat(*(ca.vec(value) for value in stated))
    for name in inputs:
        if name in names and ca.depends_on(shape, x["p"][names.index(name)]):
            raise ValueError(
                f"the input {name!r} is a mass or a length of the mechanism, which cannot change "
                "in time: inputs are Parameters of forces; tune others by design()"
            )


def _short(value: Any) -> str:
    """Return a short description of a value, for messages."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    plain = value is None or isinstance(value, str | int | float)
    return repr(value) if plain else f"{type(value).__name__}(...)"


def check_no_new_nan(
    dynamics: Dynamics, conditions: Sequence[Condition], stated: Sequence[Condition]
) -> None:
    """Refuse NaN in the postures of conditions where the stated ones, now replaced, have none."""
    for kind in (StartAt, EndAt):
        free = [x.free(dynamics) for x in stated if isinstance(x, kind)]
        for condition in (x for x in conditions if isinstance(x, kind)):
            for what, undefined in condition.find_nan(dynamics).items():
                left_free = [x[what] for x in free] or [frozenset()]
                for name in sorted(undefined - frozenset.intersection(*left_free)):
                    raise ValueError(
                        f"{what} of {kind.__name__} is nan for {name}: a measured state must be "
                        "numbers; give FREE in place of nan, if it is to be free"
                    )


def find_dependence(nlp: StructuredNlp, costs: int) -> NDArray[np.bool_]:
    """Return which costs depend on which unknowns, (costs, n), by structure alone.

    ``costs`` is the number of costs.
    """
    depends = np.zeros((costs, nlp.x.numel()), dtype=bool)
    for block in nlp.blocks:
        pattern = block.function.jac_sparsity(1, 0)  # of the terms of costs by the unknowns
        terms, columns = (np.array(x, dtype=int) for x in pattern.get_triplet())
        for term, column in zip(terms, columns, strict=True):
            depends[term, block.columns[:, column]] = True
    return depends


def check_costs(costs: Sequence[Cost], depends: NDArray[np.bool_]) -> None:
    """Refuse costs of which none depends on the motion, and warn of one that does not."""
    counts = depends.any(axis=1) & np.array([cost.weight > 0 for cost in costs])
    idle = [cost for cost, does_count in zip(costs, counts, strict=True) if not does_count]
    if not idle:
        return
    sentences = dict.fromkeys(  # each once
        f"{type(cost).__name__} is the same whatever the motion: {cost.without_effect}"
        for cost in idle
    )
    message = "; ".join(sentences)
    if not counts.any():
        raise ValueError(message)
    warnings.warn(message, stacklevel=4)


def warn_outside_bores(transcription: Transcription, x: Array, p: Array) -> None:
    """Warn of unknowns x (n,) from which clearance joints may not be found together again."""
    d = transcription.dynamics
    if not d.bores:
        return
    (times, q, _), bores = transcription.nodes(x), list(d.bores)
    t, q_, p_ = ca.SX.sym("t"), ca.SX.sym("q", d.nq), ca.SX.sym("p", len(d.parameters))
    offsets = d.contact_offsets(t, q_, p_)[:, bores]  # (3, bores) [m]
    sizes = [ca.sqrt(ca.sum1(offsets**2)).T, d.clearance(p_)[bores]]
    columns = ca.Function("offset", [t, q_, p_], sizes).map(len(times))(
        times, q.T, np.tile(p[:, None], len(times))
    )
    distances, clearances = (np.asarray(x) for x in columns)  # (bores, nodes) [m]
    outside = distances / clearances - 1
    k, node = (int(i) for i in np.unravel_index(np.argmax(outside), outside.shape))
    if not outside[k, node] > FAR:
        return
    warnings.warn(
        f"the guess takes {d.contact_names[bores[k]]!r} {distances[k, node]:.3g} m apart at "
        f"t = {times[node]:.4g} s, {distances[k, node] / clearances[k, node]:.0f} times its "
        "clearance: from there a motion may not be found, or after long; begin with FromIdeal, or "
        "with Through postures that hold the joint together",
        stacklevel=4,
    )
