"""Calls of methods of users' costs and conditions; what these return wrongly is refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from nsopt.checks import numbers
from nsopt.trajectory.conditions import Bound, Condition, Span
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.node_sample import NodeSample


def call_cost(cost: Cost, method: str, *args: Any) -> ca.SX:
    """Return what a method of a cost returns for ``args``; refuse what is no scalar."""
    value = getattr(cost, method)(*args)
    named = f"{type(cost).__name__}.{method}"
    x = check_expression(named, value)
    if x.numel() != 1:
        raise ValueError(
            f"{named} returns shape {x.shape}, but a cost is one number: return ca.sumsqr(...) or "
            "ca.sum1(...) of it"
        )
    return x


def call_costs(costs: Sequence[Cost], method: str, *args: Any) -> ca.SX:
    """Return what a method of costs returns, times their weights, (n,)."""
    return ca.vertcat(ca.SX(0, 1), *(c.weight * call_cost(c, method, *args) for c in costs))


def check_expression(named: str, value: Any) -> ca.SX:
    """Return what code of a user returns as an expression; refuse what is none, or has NaN.

    ``named`` is the cost or condition and its method.
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
    if not np.isnan(np.asarray(f(0.5))).any():  # as for most expressions: no constant is NaN
        return False
    constants = [k for k in range(f.n_instructions()) if f.instruction_id(k) == ca.OP_CONST]
    return any(np.isnan(f.instruction_constant(k)) for k in constants)


def call_bounds(condition: Condition, method: str, *args: Any) -> list[Bound]:
    """Return the bounds that a method of a condition returns, their limits (m,); refuse others."""
    named = f"{type(condition).__name__}.{method}"
    found = getattr(condition, method)(*args)
    return [_check_bound(named, b) for b in _check_list(named, found, Bound)]


def call_spans(condition: Condition, m: NodeSample) -> list[Span]:
    """Return the bounds that hold for parts of the motion; refuse others."""
    named = f"{type(condition).__name__}.during"
    spans = _check_list(named, condition.during(m), Span)
    return [
        Span(
            first,
            last,
            [_check_bound(named, b) for b in _check_list(f"Span of {named}", bounds, Bound)],
        )
        for first, last, bounds in spans
    ]


def _check_list(named: str, found: Any, kind: type) -> list[Any]:
    """Return what was found as a list; refuse it if it is none, or has objects of other classes."""
    if isinstance(found, kind) or not isinstance(found, list | tuple):
        wrong = [found]
    else:
        wrong = [x for x in found if not isinstance(x, kind)]
    if wrong:
        fields = ", ".join(kind._fields[:4])  # type: ignore[attr-defined]
        raise TypeError(
            f"{named} returns {wrong[0]!r:.60}: return a list of {kind.__name__}({fields}), [] "
            "for none"
        )
    return list(found)


def _check_bound(named: str, b: Bound) -> Bound:
    """Return a bound with a column (m,) as value and limits (m,); refuse it if it has none."""
    label = f"{b.label!r} of {named}"
    x = check_expression(f"value of {label}", b.value)
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
