"""The blocks an Mpcc is made of, such as `Rows` and `Pairs`, and checks of what is stated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Scale = Any
"""Typical sizes of a block: numbers (n,), or an expression of parameters (for `Newton` only)."""
Slopes = Mapping[str, ca.SX]
"""Derivatives (m, n) by each of the variables that rows depend on, by its name; physical units."""


@dataclass(frozen=True, eq=False)
class VariableBlock:
    """Unknowns (n,): symbols ``scaled``, physical value = scale * scaled; bounds are physical."""

    name: str
    scaled: ca.SX
    scale: Scale
    lower: ca.SX
    upper: ca.SX
    guess: ca.SX
    multiplier: bool  # this and `mean`: see `Mpcc.variable`
    mean: bool


@dataclass(frozen=True, eq=False)
class ParameterBlock:
    """Symbols (n,) whose numbers are given at each solve."""

    name: str
    symbol: ca.SX


@dataclass(frozen=True, eq=False)
class Sides:
    """Which of some values each row (m,) limits, and from which side."""

    count: int  # of the values
    of: NDArray[np.intp]  # (m,) index of the value
    sign: NDArray[np.int_]  # (m,) 1 of an upper limit, -1 of a lower one

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the rows."""
        rows = zip(self.of.tolist(), self.sign.tolist(), strict=True)
        return tuple(f"{'upper' if sign > 0 else 'lower'} of [{i}]" for i, sign in rows)

    def sum_by_value(self, rows: Vector) -> Vector:
        """Return multipliers (count,) of the values from those of their rows (m,), zero or more."""
        return np.asarray(np.bincount(self.of, self.sign * rows, self.count), dtype=float)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows ``expr`` (m,) in physical units: equations = 0, or inequalities <= 0; scale (m,)."""

    name: str
    expr: ca.SX
    scale: Scale
    redundant: bool = False  # whether some follow from the others
    sides: Sides | None = None
    slopes: Slopes | None = None  # of expr


@dataclass(frozen=True, eq=False)
class Pairs:
    """Complementary pairs 0 <= G _|_ H >= 0, each (m,) in physical units, with one label each."""

    name: str
    G: ca.SX
    H: ca.SX
    scales: tuple[Scale, Scale]
    labels: tuple[str, ...]
    active: ca.SX  # (m,), 0 where H = 0 is demanded instead; G is then replaced by its scale
    slopes: Slopes | None = None  # of G


@dataclass(frozen=True, eq=False)
class Boxes:
    """Rows lower <= z <= upper, each (m,), where F (m,) >= 0 at lower, <= 0 at upper, else 0."""

    name: str
    z: ca.SX
    F: ca.SX
    lower: ca.SX
    upper: ca.SX
    scales: tuple[Scale, Scale]
    labels: tuple[str, ...]
    slopes: Slopes | None = None  # of F


@dataclass(frozen=True, eq=False)
class Discs:
    """Vectors z in discs, |z| <= radius, where F is -gamma z with gamma >= 0, zero inside.

    Two entries of z and F (2m,) belong to each of the radii (m,).
    """

    name: str
    z: ca.SX
    F: ca.SX
    radius: ca.SX
    scales: tuple[Scale, Scale]  # (m,) each
    rho: ca.SX  # (m,) factor of F in the projection of z - rho F
    labels: tuple[str, ...]
    slopes: Slopes | None = None  # of F


@dataclass(frozen=True, eq=False)
class FirstEvent:
    """Rows ``expr`` (m,) of which the active ones are >= 0 and the smallest is 0."""

    name: str
    expr: ca.SX
    scale: Scale
    active: ca.SX
    of: str  # the variable that this equation determines
    labels: tuple[str, ...]


def stack(parts: Iterable[ca.SX]) -> ca.SX:
    """Return one column of all ``parts``, (0, 1) of none."""
    return ca.vertcat(ca.SX(0, 1), *parts)


def make_column(what: str, value: Any, size: int | None = None) -> ca.SX:
    """Return ``value`` as an SX column; a scalar is repeated ``size`` times.

    ValueError named ``what``: neither numbers nor SX, no column, not of ``size`` rows, or with NaN.
    """
    if isinstance(value, (list, tuple)) and any(isinstance(v, ca.SX) for v in value):
        value = ca.vertcat(*value)
    try:
        expr = value if isinstance(value, ca.SX) else ca.SX(ca.DM(value))
    except (NotImplementedError, TypeError, ValueError):
        raise ValueError(
            f"{what} must be numbers or a CasADi SX, got {type(value).__name__} {value!r}"
        ) from None
    if expr.numel() == 0:
        expr = ca.SX(0, 1)
    if expr.shape[1] != 1:
        raise ValueError(f"{what} must be a column, got shape {expr.shape}: use ca.vec or .T")
    if size is not None and expr.shape[0] == 1 != size:
        expr = ca.repmat(expr, size, 1)
    if size is not None and expr.shape[0] != size:
        raise ValueError(f"{what} must have {size} rows, got {expr.shape[0]}: {value!r}")
    expr = ca.densify(expr)
    if expr.is_constant() and np.any(np.isnan(ca.DM(expr).full())):
        raise ValueError(f"{what} contains NaN: {value!r}")
    return expr


def check_scale(what: str, value: Any, size: int) -> Vector:
    """Return the scale ``value`` as numbers (size,); ValueError named ``what`` unless all > 0."""
    given = np.asarray(value, dtype=float)
    if given.shape not in ((), (size,)):
        raise ValueError(
            f"{what} must be one number or {size} of them, got shape {given.shape}: {value!r}"
        )
    if not np.all(np.isfinite(given) & (given > 0)):
        raise ValueError(
            f"{what} must be positive and finite, got {value!r}: give the typical size of the block"
        )
    return np.array(np.broadcast_to(given, (size,)))


def check_known(what: str, expr: ca.SX, known: Iterable[ca.SX], remedy: str) -> None:
    """Raise a ValueError named ``what`` if ``expr`` contains a symbol of none of the ``known``."""
    strangers = ca.Function("stated", [*known], [expr], {"allow_free": True}).get_free()
    if strangers:
        raise ValueError(f"{what} contains unknown symbols {', '.join(strangers)}: {remedy}")


def check_name(kind: str, name: str, taken: Sequence[str]) -> str:
    """Return ``name`` if it is a text not yet ``taken``; raise a ValueError otherwise."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"a {kind} needs a name, got {name!r}")
    if name in taken:
        raise ValueError(f"{kind} {name!r} is stated twice: choose another name")
    return name


def make_labels(name: str, what: str, labels: Sequence[str] | None, size: int) -> tuple[str, ...]:
    """Return the labels given, ``name[i]`` by default; ValueError if they are not ``size``."""
    names = tuple(f"{name}[{i}]" for i in range(size)) if labels is None else tuple(labels)
    if len(names) != size:
        raise ValueError(f"labels {what} must be {size}, one for each row, got {len(names)}")
    return names


def limit_rows(what: str, values: ca.SX, lower: ca.SX, upper: ca.SX) -> tuple[ca.SX, Sides]:
    """Return rows that are at most zero where values (k,) are within limits, and their sides.

    Infinite limits have no row. ValueError named ``what`` unless lower is below upper, where both
    are numbers.
    """
    finite = []
    for i, limits in enumerate(zip(*map(ca.vertsplit, (lower, upper)), strict=True)):
        numbers = [float(x) if x.is_constant() else np.nan for x in limits]
        if numbers[0] >= numbers[1]:
            raise ValueError(
                f"{what} leave nothing between them at row {i}, lower {numbers[0]:g}, upper "
                f"{numbers[1]:g}: state lower below upper, or an equation by equal"
            )
        signs = zip((-1, 1), limits, numbers, strict=True)
        finite += [(i, sign, limit) for sign, limit, x in signs if not np.isinf(x)]
    of, sign = (np.array([x[k] for x in finite], dtype=np.intp) for k in (0, 1))
    rows = stack(sign * (values[i] - limit) for i, sign, limit in finite)
    return rows, Sides(values.numel(), of, sign)
