"""Scaling of a program: magnitudes and slopes of unknowns, rows and costs, for advice on units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mpcc import ConstraintBlock, StructuredNlp

SPREAD = 1e6  # ratio of the largest slope to the smallest beyond which a solver loses digits
ZERO = 1e-14
"""Slope, over the largest one, below which it counts as zero, such as round-off at rest."""
SHOWN = 4  # number of largest and of smallest slopes of each kind that are shown


@dataclass(frozen=True)
class Size:
    """Magnitude and slope of all unknowns, rows or costs of one name."""

    name: str
    value: float  # the largest magnitude; of a cost its value
    slope: float  # the largest derivative: of a row or cost, of any row by an unknown


@dataclass(frozen=True)
class Scaling:
    """Magnitudes and slopes of a program at a point; as text, a table with advice.

    Attributes
    ----------
    unknowns, rows, costs : tuples of Size
    """

    unknowns: tuple[Size, ...]
    rows: tuple[Size, ...]
    costs: tuple[Size, ...]

    @property
    def spread(self) -> float:
        """The largest ratio of the slopes of one kind, largest to smallest."""
        return max(_spread(sizes)[0] for sizes in (self.unknowns, self.rows, self.costs))

    @property
    def advice(self) -> str:
        """Advice on units and weights; empty if the program is well scaled."""
        of_units = "state lengths, masses and times in units that make these alike"
        of_weights = "give the costs weights or scales that make these alike"
        advice = []
        for kind, sizes, remedy in (
            ("unknowns", self.unknowns, of_units),
            ("conditions", self.rows, of_units),
            ("costs", self.costs, of_weights),
        ):
            ratio, flat, steep = _spread(sizes)
            if ratio > SPREAD:
                slopes = f"slopes of {kind} differ by {ratio:.1g}, from {flat} to {steep}"
                advice.append(f"{slopes}: {remedy}")
        return "; ".join(advice)

    def __str__(self) -> str:
        """Return the table."""
        lines = []
        for kind, sizes in (
            ("unknown", self.unknowns),
            ("condition", self.rows),
            ("cost", self.costs),
        ):
            lines.append(f"{kind:<40}{'size':>10}{'slope':>10}")
            ordered = sorted(sizes, key=lambda size: -size.slope)
            entries = [f"  {x.name[:37]:<38}{x.value:>10.1e}{x.slope:>10.1e}" for x in ordered]
            hidden = len(entries) - 2 * SHOWN
            lines += (
                entries[:SHOWN] + [f"  ... {hidden} more"] * (hidden > 0) + entries[SHOWN:][-SHOWN:]
            )
            ratio, flat, steep = _spread(sizes)
            if ratio > 1:
                lines.append(f"  ratio {ratio:.1e}, from {flat} to {steep}")
        return "\n".join([*lines, self.advice or f"no ratio above {SPREAD:.0e}: well scaled"])


def scaling(
    nlp: StructuredNlp, x: Array, p: Array, unknowns: Sequence[str], costs: Sequence[str]
) -> Scaling:
    """Return the scaling of a program at unknowns x (n,) and parameters p (np,).

    ``unknowns`` are the names of x, of which those of one name count together; ``costs`` those of
    the terms of the objective.
    """
    if len(unknowns) != len(x) or len(costs) != nlp.terms.numel_out(0):
        raise ValueError(
            f"scaling needs a name for each of {len(x)} unknowns and "
            f"{nlp.terms.numel_out(0)} costs, got {len(unknowns)} and {len(costs)}"
        )
    slope_by_unknown = np.zeros(len(x))
    gradients = np.zeros((len(costs), len(x)))
    values: dict[str, float] = {}
    slopes: dict[str, float] = {}
    for block in nlp.blocks:
        rows, J, G = _differentiate(block, x, p)
        np.maximum.at(slope_by_unknown, block.columns, np.abs(J).max(axis=1, initial=0.0))
        for k, gradient in enumerate(gradients):
            np.add.at(gradient, block.columns, G[:, k])
        for i, label in enumerate(block.labels):
            values[label] = max(values.get(label, 0.0), _largest(rows[:, i]))
            slopes[label] = max(slopes.get(label, 0.0), _largest(J[:, i]))
    shares = np.asarray(nlp.terms(x, p)).ravel()
    names = dict.fromkeys(unknowns)  # each once
    named = {name: np.array([other == name for other in unknowns]) for name in names}
    return Scaling(
        tuple(
            Size(name, _largest(x[mine]), _largest(slope_by_unknown[mine]))
            for name, mine in named.items()
        ),
        tuple(Size(label, values[label], slopes[label]) for label in values),
        tuple(
            Size(name, abs(float(share)), _largest(gradient))
            for name, share, gradient in zip(costs, shares, gradients, strict=True)
        ),
    )


def _differentiate(block: ConstraintBlock, x: Array, p: Array) -> tuple[Array, Array, Array]:
    """Return rows (n, m), their Jacobians (n, m, nw), those of costs (n, k, nw), of n instances."""
    w, data, p_ = (ca.SX.sym(name, block.function.numel_in(i)) for i, name in enumerate("wdp"))
    rows, terms = block.function(w, data, p_)
    parts = [ca.densify(y) for y in (rows, ca.jacobian(rows, w), ca.jacobian(terms, w))]
    function = ca.Function("slopes", [w, data, p_], parts, {"cse": True})
    n, nw = block.columns.shape
    columns = function.map(n)(x[block.columns].T, block.data.T, np.tile(p[:, None], n))
    value, J, G = (np.asarray(y) for y in columns)
    return (
        value.T,
        J.reshape(block.rows, n, nw).transpose(1, 0, 2),
        G.reshape(-1, n, nw).transpose(1, 0, 2),
    )


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))


def _spread(sizes: Sequence[Size]) -> tuple[float, str, str]:
    """Return the ratio of the largest slope to the smallest nonzero one, and the names of both."""
    zero = ZERO * max((x.slope for x in sizes), default=0.0)
    steep = sorted((x for x in sizes if x.slope > zero), key=lambda x: x.slope)
    if not steep:
        return 1.0, "", ""
    return steep[-1].slope / steep[0].slope, steep[0].name, steep[-1].name
