"""What methods of costs and conditions return, refused by name unless it is what they should."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from nsopt.checks import numbers
from nsopt.trajectory.conditions import Bound, Condition, Span
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.node_sample import NodeSample


def call_cost(cost: Cost, method: str, *of: Any) -> ca.SX:
    """Return what a method of a cost returns, a number or an expression of one.

    Raises
    ------
    TypeError, ValueError
        For anything else, with the cost, its method and the remedy.
    """
    value = getattr(cost, method)(*of)
    named = f"{type(cost).__name__}.{method}"
    x = expression(named, value)
    if x.numel() != 1:
        raise ValueError(
            f"{named} returns shape {x.shape}, but a cost is one number: return ca.sumsqr(...) or "
            "ca.sum1(...) of it"
        )
    return x


def call_costs(costs: Sequence[Cost], method: str, *of: Any) -> ca.SX:
    """Return what a method of costs returns, times their weights, (n,)."""
    return ca.vertcat(ca.SX(0, 1), *(c.weight * call_cost(c, method, *of) for c in costs))


def expression(named: str, value: Any) -> ca.SX:
    """Return a value that code of a user states, as an expression without NaN.

    Raises
    ------
    TypeError, ValueError
        If it is none, or has NaN in it.
    """
    try:
        x = None if value is None else ca.SX(value)
    except (NotImplementedError, TypeError, RuntimeError):
        x = None
    if x is None:
        raise TypeError(
            f"{named} returns {value!r:.60}, which is no number and no expression: return one of "
            "CasADi, ca.SX(0) for none"
        )
    if _states_nan(x):
        raise ValueError(
            f"{named} returns an expression with nan in it: functions of Python's math know no "
            "expressions, so write ca.sin in place of math.sin, and so on"
        )
    return x


def _states_nan(x: ca.SX) -> bool:
    """Return whether NaN is among the constants of an expression."""
    f = ca.Function("stated", [ca.vertcat(ca.SX(0, 1), *ca.symvar(x))], [x])
    if not np.isnan(np.asarray(f(0.5))).any():
        return False
    constants = [k for k in range(f.n_instructions()) if f.instruction_id(k) == ca.OP_CONST]
    return any(np.isnan(f.instruction_constant(k)) for k in constants)


def bounds_of(condition: Condition, method: str, *of: Any) -> list[Bound]:
    """Return the bounds that a method of a condition returns, their limits (m,) each.

    Raises
    ------
    TypeError, ValueError
        If it returns something else, with the condition, its method and the remedy.
    """
    named = f"{type(condition).__name__}.{method}"
    return [_check(named, b) for b in _list(named, getattr(condition, method)(*of), Bound)]


def spans_of(condition: Condition, m: NodeSample) -> list[Span]:
    """Return the bounds that hold for parts of the motion; errors as for `bounds_of`."""
    named = f"{type(condition).__name__}.during"
    spans = _list(named, condition.during(m), Span)
    return [
        Span(first, last, [_check(named, b) for b in _list(f"Span of {named}", bounds, Bound)])
        for first, last, bounds in spans
    ]


def _list(named: str, found: Any, kind: type) -> list[Any]:
    """Return a list of objects of one kind, and nothing else."""
    if isinstance(found, kind) or not isinstance(found, list | tuple):
        members = [found]
    else:
        members = [x for x in found if not isinstance(x, kind)]
    if members:
        stated = ", ".join(kind._fields[:4])  # type: ignore[attr-defined]
        raise TypeError(
            f"{named} returns {members[0]!r:.60}: return a list of {kind.__name__}({stated}), [] "
            "for none"
        )
    return list(found)


def _check(named: str, b: Bound) -> Bound:
    """Return a bound with a column as value and limits of its size."""
    label = f"{b.label!r} of {named}"
    x = expression(f"value of {label}", b.value)
    if x.size2() > 1 or (x.numel() == 0 and x.size2() != 1):
        raise ValueError(f"value of {label} has shape {x.shape}: give a column, ca.vec(...)")
    limits = []
    for side, limit in (("lower", b.lower), ("upper", b.upper)):
        if isinstance(limit, ca.SX):
            raise TypeError(
                f"{side} limit of {label} is an expression: bound the difference by 0 instead"
            )
        given = np.ravel(numbers(f"{side} limit of {label}", limit))
        if given.size not in (1, x.numel()):
            raise ValueError(
                f"{side} limit of {label} has {given.size} numbers for {x.numel()} of its value"
            )
        if np.isnan(given).any():
            raise ValueError(f"{side} limit of {label} must be a number or inf, got nan")
        limits.append(np.broadcast_to(given, x.numel()).copy())
    return b._replace(value=x, lower=limits[0], upper=limits[1])
