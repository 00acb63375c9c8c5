"""Complementarity programs, stated block by block: `Mpcc`.

Schemes and users state them; `Solver` makes a `Program` of one, `Newton` a square one for kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from nsopt.mpcc.statement.blocks import (
    Boxes,
    Discs,
    FirstEvent,
    Pairs,
    ParameterBlock,
    Slopes,
    VariableBlock,
    limit_rows,
    make_column,
    make_labels,
)
from nsopt.mpcc.statement.program_blocks import ChainedProgram


@dataclass(eq=False)
class Mpcc(ChainedProgram):
    """A mathematical program with complementarity constraints, in named blocks.

    Minimize f(x) subject to c(x) = 0, d(x) <= 0, 0 <= G(x) _|_ H(x) >= 0 and bounds on x. All
    expressions are in physical units; scales only condition the program inside the solver.
    Statements append frozen blocks to tuples, so copying the tuples is a snapshot. A block of
    size 0 is legal and costs nothing.

    Parameters
    ----------
    name : str
        Letters, digits and underscores; it names the generated functions.

    Raises
    ------
    ValueError
        From every statement, naming the block, the value and the remedy: names used twice, wrong
        shapes, scales that are not positive, expressions with symbols of another program.
    """

    def variable(
        self,
        name: str,
        size: int,
        *,
        lower: Any = -np.inf,
        upper: Any = np.inf,
        scale: Any = 1.0,
        guess: Any = 0.0,
        multiplier: bool = False,
        mean: bool = False,
    ) -> ca.SX:
        """Add unknowns and return them, SX (size,) in physical units.

        Parameters
        ----------
        name : str
        size : int
            Zero or more.
        lower, upper, guess : float, (size,) array or SX expression of parameters
            Physical units; expressions are evaluated at each solve. The guess is where a cold
            start begins, moved into the bounds.
        scale : float, (size,) array or SX expression of parameters
            Typical size of the unknowns: the solver sees value / scale. Expressions, here and in
            every other scale, are for `Newton` alone; a Solver needs numbers.
        multiplier : bool
            Whether the equations that decide them need not contain them, as constraints do not
            contain their reactions: `Newton` finds them after the others.
        mean : bool
            Whether the unknowns are means over a step of what ``guess`` is at its start, as mean
            velocities. The next step of a simulation may then begin at their extrapolation.
        """
        self._check_new_symbol("variable", name, size)
        of = f"of variable {name!r}"
        scales = self._make_scale(f"scale {of}", scale, size)
        low, up, start = (
            self._check_parametric(f"{what} {of}", value, size)
            for what, value in (("lower", lower), ("upper", upper), ("guess", guess))
        )
        if low.is_constant() and up.is_constant() and np.any(ca.DM(low).full() > ca.DM(up).full()):
            raise ValueError(f"bounds {of} are crossed: lower {lower!r} above upper {upper!r}")
        scaled = ca.SX.sym(name, size)
        self.variables += (VariableBlock(name, scaled, scales, low, up, start, multiplier, mean),)
        return ca.SX(scales) * scaled

    def parameter(self, name: str, size: int) -> ca.SX:
        """Add a parameter block and return its symbols, SX (size,)."""
        self._check_new_symbol("parameter", name, size)
        symbol = ca.SX.sym(name, size)
        self.parameters += (ParameterBlock(name, symbol),)
        return symbol

    def equal(
        self,
        name: str,
        expr: Any,
        *,
        scale: Any = 1.0,
        redundant: bool = False,
        slopes: Slopes | None = None,
    ) -> None:
        """Demand ``expr`` == 0, (m,); the solver sees expr / scale.

        Parameters
        ----------
        redundant : bool
            Whether some rows follow from the others: combinations of their multipliers then have
            no effect, and `Newton` does not change these. Without it, round-off and terms of second
            order in such rows make large multipliers that add up from solve to solve. Scales must
            be alike.
        slopes : mapping of name to SX (m, n), optional
            Derivatives of ``expr`` by each of the variables that it depends on, in physical units,
            where they are known in fewer operations than differentiation takes. For `Newton`.
        """
        rows = self._make_rows("equation", name, expr, scale)
        rows = replace(rows, slopes=self._check_slopes(f"equation {name!r}", slopes, rows.expr))
        self.equalities += (replace(rows, redundant=redundant),)

    def less(self, name: str, expr: Any, *, scale: Any = 1.0) -> None:
        """Demand ``expr`` <= 0, (m,); the solver sees expr / scale."""
        self.inequalities += (self._make_rows("inequality", name, expr, scale),)

    def within(self, name: str, expr: Any, lower: Any, upper: Any, *, scale: Any = 1.0) -> None:
        """Demand ``lower`` <= ``expr`` <= ``upper``, (m,); the solver sees expr / scale.

        Parameters
        ----------
        name : str
        expr : SX (m,)
            Physical units.
        lower, upper : float, (m,) array or SX expression
            Physical units; they may depend on unknowns. What is infinite is no limit.
        scale : float or (m,)
        """
        of = f"of inequality {name!r}"
        values = self._check_symbols(f"inequality {name!r}", expr)
        m, size = values.numel(), self._make_scale(f"scale {of}", scale, values.numel())
        low, up = (make_column(f"limits {of}", limit, m) for limit in (lower, upper))
        rows, sides = limit_rows(f"limits {of}", values, low, up)
        stated = self._make_rows("inequality", name, rows, size[sides.of.tolist()])
        self.inequalities += (replace(stated, sides=sides),)

    def complement(
        self,
        name: str,
        G: Any,
        H: Any,
        *,
        scale: tuple[Any, Any] = (1.0, 1.0),
        labels: Sequence[str] | None = None,
        active: Any = 1,
        slopes: Slopes | None = None,
    ) -> None:
        """Demand 0 <= G _|_ H >= 0, each (m,), row by row.

        Where G or H is itself an unknown, a lower bound of zero on it is harmless but idle: the
        solver is not given it, for the relaxation implies it.

        Parameters
        ----------
        name : str
        G, H : SX (m,)
            Physical units.
        scale : (scale of G, scale of H), each a float or (m,)
        labels : m texts, optional
            Name the pairs in reports; ``name[i]`` by default.
        active : (m,) of numbers and parameters
            Where zero, H = 0 is demanded instead and G does not count.
        slopes : mapping of name to SX (m, n), optional
            Of G, as in `equal`.
        """
        self._check_new_constraint("complementarity", name)
        of = f"of complementarity {name!r}"
        first, second = self._check_symbols(f"G {of}", G), self._check_symbols(f"H {of}", H)
        m = first.shape[0]
        if second.shape[0] != m:
            raise ValueError(f"G and H {of} must pair up, got {m} and {second.shape[0]} rows")
        scales, names = self._make_scales(of, scale, m), make_labels(name, of, labels, m)
        slopes = self._check_slopes(f"complementarity {name!r}", slopes, first)
        on = self._check_parametric(f"active {of}", active, m)
        if not (on.is_constant() and np.all(ca.DM(on).full() == 1)):
            first, slopes = ca.if_else(on, first, ca.SX(scales[0])), None
        self.pairs += (Pairs(name, first, second, scales, names, on, slopes),)

    def box(
        self,
        name: str,
        z: Any,
        F: Any,
        *,
        lower: Any,
        upper: Any,
        scale: tuple[Any, Any] = (1.0, 1.0),
        labels: Sequence[str] | None = None,
        slopes: Slopes | None = None,
    ) -> None:
        """Demand lower <= z <= upper with F >= 0 at lower, F <= 0 at upper, F = 0 between.

        Where lower and upper meet, F is free. As dry friction: z the tangential impulse, F the
        slip, the bounds minus and plus mu times the normal impulse.

        Parameters
        ----------
        name : str
        z, F, lower, upper : SX (m,)
            Physical units; the bounds may depend on unknowns.
        scale : (scale of z, scale of F), each a float or (m,)
        labels : m texts, optional
            Name the rows in reports; ``name[i]`` by default.
        slopes : mapping of name to SX (m, n), optional
            Of F, as in `equal`.
        """
        self._check_new_constraint("box", name)
        of = f"of box {name!r}"
        z, F = self._check_symbols(f"z {of}", z), self._check_symbols(f"F {of}", F)
        low, up = (make_column(f"bound {of}", bound, z.shape[0]) for bound in (lower, upper))
        self._check_symbols(f"bounds {of}", ca.vertcat(low, up))
        if F.shape[0] != z.shape[0]:
            raise ValueError(f"z and F {of} must pair up, got {z.shape[0]} and {F.shape[0]} rows")
        scales = self._make_scales(of, scale, z.shape[0])
        names = make_labels(name, of, labels, z.shape[0])
        slopes = self._check_slopes(f"box {name!r}", slopes, F)
        self.boxes += (Boxes(name, z, F, low, up, scales, names, slopes),)

    def disc(
        self,
        name: str,
        z: Any,
        F: Any,
        *,
        radius: Any,
        scale: tuple[Any, Any] = (1.0, 1.0),
        rho: Any = None,
        labels: Sequence[str] | None = None,
        slopes: Slopes | None = None,
    ) -> None:
        """Demand that z is the point of a disc that goes furthest against F.

        |z| <= radius, F = 0 inside, F = -gamma z with gamma >= 0 on the edge: z is the projection
        of z - rho F on the disc, for any rho > 0. Where the radius is zero or less z is zero and F
        is free. As dry friction in space: z the tangential impulse, F the slip, the radius mu times
        the normal impulse [Alart, Curnier 1991, Comput. Methods Appl. Mech. Eng. 92(3)].

        Parameters
        ----------
        name : str
        z, F : SX (2m,)
            Physical units; two entries for each disc.
        radius : SX (m,)
            May depend on unknowns.
        scale : (scale of z, scale of F), each a float or (m,)
        rho : (m,) of numbers and parameters, optional
            Size of z over that of F, in the projection of z - rho F; by default that of the scales.
            Best where an F of one is undone by a z of about rho, as by an effective mass.
        labels : m texts, optional
        slopes : mapping of name to SX (2m, n), optional
            Of F, as in `equal`.
        """
        self._check_new_constraint("disc", name)
        of = f"of disc {name!r}"
        z, F = self._check_symbols(f"z {of}", z), self._check_symbols(f"F {of}", F)
        edge = self._check_symbols(f"radius {of}", radius)
        m = edge.shape[0]
        if not z.shape[0] == F.shape[0] == 2 * m:
            got = f"{z.shape[0]} and {F.shape[0]}"
            raise ValueError(f"z and F {of} must have two entries for each of {m} radii, got {got}")
        scales = self._make_scales(of, scale, m)
        size = ca.SX(scales[0]) / ca.SX(scales[1]) if rho is None else rho
        ratio = self._check_parametric(f"rho {of}", size, m)
        names = make_labels(name, of, labels, m)
        slopes = self._check_slopes(f"disc {name!r}", slopes, F)
        self.discs += (Discs(name, z, F, edge, scales, ratio, names, slopes),)

    def first_event(
        self,
        name: str,
        expr: Any,
        *,
        of: str,
        scale: Any = 1.0,
        active: Any = 1,
        labels: Sequence[str] | None = None,
    ) -> None:
        """Demand that of ``expr`` (m,) / scale the smallest is zero: one equation.

        As events: the first of several distances that closes.

        Parameters
        ----------
        name : str
        expr : SX (m,)
            Physical units; the first row is always active.
        of : str
            The variable, of size 1, that this equation is for.
        scale : float or (m,)
        active : (m,) of numbers and parameters
            Rows that count.
        labels : m texts, optional
            Name the rows in reports; ``name[i]`` by default.
        """
        self._check_new_constraint("first event", name)
        if of not in {v.name for v in self.variables if v.scaled.numel() == 1}:
            raise ValueError(
                f"first event {name!r} is of no variable {of!r} of size 1: state it first"
            )
        unknown, of = of, f"of first event {name!r}"
        rows = self._check_symbols(f"rows {of}", expr)
        m = rows.shape[0]
        on = self._check_parametric(f"active {of}", active, m)
        scales, names = self._make_scale(f"scale {of}", scale, m), make_labels(name, of, labels, m)
        self.first_events += (FirstEvent(name, rows, scales, on, unknown, names),)

    @property
    def multipliers(self) -> tuple[str, ...]:
        """Names of variables that are multipliers, with those of `least_norm`."""
        return tuple(v.name for v in self.variables if v.multiplier or v.name in self.least)

    def minimize(self, expr: Any) -> None:
        """Add the scalar ``expr`` to the objective."""
        term = self._check_symbols("objective", expr)
        if term.shape != (1, 1):
            raise ValueError(f"objective must be one number, got {term.shape[0]}: sum its terms")
        self.objective = self.objective + term

    def least_norm(self, names: str | Sequence[str]) -> None:
        """Declare variables that take their least norm wherever the constraints leave them free.

        Redundant reactions are not unique. After the solve x moves within the null space of the
        active constraints' Jacobian, in the columns of these blocks only, to the least Euclidean
        norm in physical units that bounds, inequalities and pairs allow. They are multipliers, see
        `variable`.

        Notes
        -----
        Exact only because such blocks enter the active constraints linearly, as reactions do; the
        residuals are checked again afterwards and the move is dropped if they are not met. The
        objective is taken not to change along that null space.
        """
        for name in (names,) if isinstance(names, str) else tuple(names):
            if name not in {v.name for v in self.variables}:
                raise ValueError(f"least_norm: no variable {name!r}: state it first")
            if name not in self.least:
                self.least += (name,)
