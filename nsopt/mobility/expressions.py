"""Constraints as functions of CasADi, and as exact expressions and polynomials by SymPy.

In exact ones numbers of a mechanism are floats: those next to a fraction, a root of one, or a
fraction times or over pi count as that. Parameters stay symbols. SymPy is needed for them only:
``pip install nsopt[mobility]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.algebra import ROUND_OFF, Scalars, TimeJet, evaluate
from nsopt.mobility.constraints import LoopConstraints

EXACT = 1e-13  # relative distance of a number from a fraction up to which it counts as that
DENOMINATOR = 10_000  # the largest denominator of such fractions

LETTERS = "xyz"
"""Of derivatives of the coordinates; later ones are u4, u5, ..."""


class SxScalars(Scalars):
    """Functions of CasADi's SX."""

    def function(self, name: str, *x: Any) -> Any:
        return getattr(ca, name)(*x)

    def is_positive(self, x: Any) -> bool:
        raise ValueError(f"derivatives of an absolute value need the sign of a number, got {x}")


def constraint_function(loops: LoopConstraints, order: int) -> ca.Function:
    """Return (q, p, u1, u2, ...) -> H (m, order), its columns H^(1) to H^(order).

    H^(k) is the k-th derivative by time of h, the residual of the cut joints, along a motion that
    passes the posture q (nq,); see `LoopConstraints`. p are the Parameters, u1 to u<order> (n,) the
    derivatives by time of u, the coordinates of the joints in the tree less those at the posture.
    """
    q, p = ca.SX.sym("q", len(loops.q)), ca.SX.sym("p", len(loops.p))
    motion = [ca.SX.sym(f"u{k + 1}", loops.n) for k in range(order)]
    screws, poses = (_list_objects(x) for x in loops.tree.screws_and_poses(q, p))
    # As jets that stand still: a power of which a Parameter is the exponent needs one.
    still = np.zeros((order, 1), dtype=object)
    parameters = [TimeJet(np.concatenate([_list_objects(x), still])) for x in ca.vertsplit(p)]
    u = np.stack([_list_objects(x) for x in motion])
    H = loops.derivatives_in(SxScalars(), screws, poses, parameters, u)
    columns = [ca.vertcat(*map(ca.SX, derivative)) for derivative in H[:, :, 0]]  # of one motion
    names = ["q", "p", *(f"u{k + 1}" for k in range(order))]
    return ca.Function("H", [q, p, *motion], [ca.horzcat(*columns)], names, ["H"])


def _list_objects(matrix: ca.SX) -> NDArray[Any]:
    """Return the entries of a matrix as an array of objects."""
    entries = np.empty(matrix.shape, dtype=object)
    for index in np.ndindex(*entries.shape):
        entries[index] = matrix[index]
    return entries


def sympy() -> Any:
    """Import SymPy and return the module."""
    try:
        import sympy
    except ImportError:
        raise ImportError("exact constraints need SymPy: pip install nsopt[mobility]") from None
    return sympy


def recognise(x: float) -> Any:
    """Return the exact number that a float stands for."""
    s = sympy()
    if abs(x) < ROUND_OFF:
        return s.Integer(0)
    for value, root, factor in (  # x = factor * value^(1 / root), up to its sign
        (x, 1, 1),
        (x**2, 2, 1),
        (x / np.pi, 1, s.pi),
        (x * np.pi, 1, 1 / s.pi),
    ):
        fraction = Fraction(value).limit_denominator(DENOMINATOR)
        if abs(float(fraction) - value) <= EXACT * abs(value):
            found = s.Rational(fraction.numerator, fraction.denominator)
            return (1 if x > 0 else -1) * s.root(abs(found), root) * factor
    raise ValueError(
        f"{x!r} is no fraction, root or fraction of pi with denominators up to {DENOMINATOR}: "
        "state the geometry by such numbers, or by Parameters"
    )


class ExpressionScalars(Scalars):
    """Arithmetic of SymPy's expressions."""

    def function(self, name: str, *x: Any) -> Any:
        return getattr(sympy(), "Abs" if name == "fabs" else name)(*x)

    def constant(self, value: float) -> Any:
        return recognise(value)

    def is_positive(self, x: Any) -> bool:
        return bool(x > 0)


class _Outside(Exception):  # noqa: N818 (caught within this module, no error)
    """A number, its argument, that is not in the field of coefficients of a ring."""


class PolynomialScalars(Scalars):
    """Arithmetic of the polynomials of a ring: sums and products; of constants all functions.

    Functions of constants raise `_Outside` where their values are not in the ring.
    """

    def __init__(self, ring: Any) -> None:
        self._ring = ring

    def function(self, name: str, *x: Any) -> Any:
        return self.lift(ExpressionScalars().function(name, *map(_make_expression, x)))

    def constant(self, value: float) -> Any:
        return self.lift(recognise(value))

    def reciprocal(self, x: Any) -> Any:
        return self.lift(1 / _make_expression(x))

    def is_positive(self, x: Any) -> bool:
        return bool(_make_expression(np.ravel(x)[0]) > 0)

    def lift(self, expression: Any) -> Any:
        """Return a number as a constant polynomial."""
        s = sympy()
        simple = s.radsimp(expression)
        try:
            return self._ring(self._ring.domain.from_sympy(simple))
        except (s.CoercionFailed, ValueError):
            raise _Outside(simple) from None


def constraint_expressions(loops: LoopConstraints) -> dict[str, list[Any]]:
    """Return the residual of each cut joint in SymPy's symbols q1, ..., qn and Parameters.

    q1, ..., qn are the coordinates of the joints of the tree less those at the posture: zero there.

    Raises
    ------
    ImportError, ValueError
        Without SymPy; if a number of the mechanism is not one that `recognise` knows.
    """
    s = sympy()
    u = ca.SX.sym("u", loops.n)
    residual = ca.Function("closure", [u, loops.symbols], [ca.densify(loops.residual(u))])
    q = [s.Symbol(f"q{k + 1}", real=True) for k in range(loops.n)]
    rows = evaluate(residual, [q, _list_parameters(loops)], ExpressionScalars())
    found: dict[str, list[Any]] = {}
    for owner, row in zip(loops.owners, rows, strict=True):
        found.setdefault(owner, []).append(s.expand(row))
    return found


def constraint_polynomials(loops: LoopConstraints, order: int) -> list[list[Any]]:
    """Return H^(1) to H^(order), each a list of m polynomials of SymPy, at the posture.

    Their symbols are the derivatives of the n coordinates: x1, ..., xn of first order, y1, ...,
    z1, ..., then u4_1, ... and so on; and the Parameters of the mechanism.

    Raises
    ------
    ImportError, ValueError
        As `constraint_expressions`; or a root or function of such numbers has no exact field.
    """
    p = _list_parameters(loops)
    symbols = ca.SX.sym("p", len(p))
    at = loops.tree.screws_and_poses(ca.SX(ca.DM(loops.q)), symbols)
    posture = [ca.densify(ca.vec(x)) for x in at]
    screws, poses = (
        evaluate(ca.Function("posture", [symbols], [x]), [p], ExpressionScalars()) for x in posture
    )
    numbers = [*screws, *poses, *p]
    while True:
        ring = _ring(loops.n, order, numbers)
        try:
            return _make_polynomials(loops, PolynomialScalars(ring[0]), ring[1:], screws, poses)
        except _Outside as found:  # a root or a function of a number: once more, with it adjoined
            (number,) = found.args
            if number in numbers:
                raise ValueError(
                    f"{number} is in no field of fractions, roots and pi: state the geometry "
                    "so that no such number arises, or take the derivatives as numbers"
                ) from None
            numbers.append(number)


def _make_polynomials(
    loops: LoopConstraints,
    scalars: PolynomialScalars,
    unknowns: Sequence[Any],
    screws: list[Any],
    poses: list[Any],
) -> list[list[Any]]:
    p = [scalars.lift(x) for x in _list_parameters(loops)]
    H = loops.derivatives_in(
        scalars,
        _make_array(list(map(scalars.lift, screws)), 6),
        _make_array(list(map(scalars.lift, poses)), 12),
        p,
        _make_array(list(unknowns), loops.n).T[:, :, None],  # (order, n, 1), of one motion
    )
    return [[_make_expression(x) for x in row] for row in H[:, :, 0]]


def _make_array(entries: list[Any], rows: int) -> NDArray[Any]:
    """Return entries, column after column, as an array of objects."""
    found = np.empty(len(entries), dtype=object)
    for k, x in enumerate(entries):
        found[k] = x
    return found.reshape(-1, rows).T


def _make_expression(x: Any) -> Any:
    return x.as_expr() if hasattr(x, "as_expr") else sympy().sympify(x)


def _list_parameters(loops: LoopConstraints) -> list[Any]:
    return [sympy().Symbol(name, real=True) for name in loops.parameters]


def _ring(n: int, order: int, numbers: list[Any]) -> tuple[Any, ...]:
    """Return a ring of polynomials whose coefficients may be these numbers, then its symbols."""
    s = sympy()
    symbols = sorted(set().union(*(x.free_symbols for x in numbers)), key=str)
    transcendental = [s.pi] if any(x.has(s.pi) for x in numbers) else []
    parts = {part for x in numbers for part in (x, *x.atoms(s.Pow))}
    algebraic = [x for x in parts if not x.free_symbols and x.is_algebraic]
    domain = s.construct_domain(sorted(algebraic, key=str), extension=True, field=True)[0]
    if symbols or transcendental:
        domain = domain.frac_field(*symbols, *transcendental)
    letters = [LETTERS[k] if k < len(LETTERS) else f"u{k + 1}_" for k in range(order)]
    return tuple(s.ring([f"{x}{i + 1}" for x in letters for i in range(n)], domain))
