"""Higher order by composition of symmetric steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.stepping.scheme import Array, Scales, Scheme, Step, StepStart
from nsopt.stepping.variational import Variational

SUZUKI = 1 / (4 - 4 ** (1 / 3))


@dataclass(frozen=True)
class Composition(Scheme):
    """Five steps of `Variational` in one, of fourth order [Suzuki 1990].

    Sizes w h, w h, (1 - 4 w) h, w h, w h with w = 1 / (4 - 4^(1/3)): two forward, one backward,
    two forward, so that the third-order errors cancel. For mechanisms without contact; an impact
    or a switch would cost the order, and damping would be run backwards for a while.

    Parameters
    ----------
    weights : tuple of float
        Parts of h, in sum one and symmetric.
    """

    weights: tuple[float, ...] = (SUZUKI, SUZUKI, 1 - 4 * SUZUKI, SUZUKI, SUZUKI)

    def __post_init__(self) -> None:
        if abs(sum(self.weights) - 1) > 1e-12 or self.weights != self.weights[::-1]:
            raise ValueError(f"weights must be symmetric and add up to 1, got {self.weights}")

    def check(self, dynamics: Dynamics, p: Array) -> None:
        del p
        if dynamics.contact_names:
            raise ValueError(
                f"Composition is for mechanisms without contact, but this one has "
                f"{dynamics.contact_names[0]!r}: use Variational or ContactAligned"
            )

    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        base, steps, now = Variational(), [], start
        for k, weight in enumerate(self.weights):
            part = cast(Mpcc, _Part(mpcc, k, start.v))
            step = base.add_step(part, dynamics, now, weight * h, scales)
            step = base.add_projection(part, dynamics, now, scales, step)
            steps.append(step)
            now = replace(now, t=now.t + weight * h, q=step.q, v=step.v)

        def total(name: str) -> ca.SX:
            return _sum([getattr(step, name) for step in steps])

        def force(name: str) -> ca.SX:
            return _sum(
                [abs(w) * getattr(s, name) for w, s in zip(self.weights, steps, strict=True)]
            )

        return replace(
            steps[-1],
            h=h,
            joint_impulse=total("joint_impulse"),
            closure=steps[-1].closure,
            motion_residual=force("motion_residual"),
            motion_size=force("motion_size"),
            energy_error=total("energy_error"),
            local_error=_sum([ca.fabs(step.local_error) for step in steps]),
            work=total("work"),
        )


def _sum(terms: Sequence[ca.SX]) -> ca.SX:
    return ca.sum2(ca.horzcat(*terms))


class _Part:
    """A program as one of several equal parts of a step sees it: its own names, no own guess."""

    def __init__(self, mpcc: Mpcc, tag: int, v: ca.SX) -> None:
        self._mpcc, self._tag, self._v = mpcc, tag, v

    def variable(self, name: str, size: int, *, scale: Any = 1.0, guess: Any = 0.0) -> ca.SX:
        del guess  # it may depend on unknowns of the parts before
        known = self._v if name.startswith("v_") else 0.0
        return self._mpcc.variable(f"{name}_{self._tag}", size, scale=scale, guess=known)

    def equal(self, name: str, expr: Any, *, scale: Any = 1.0) -> None:
        kind = f"{name}_{self._tag}"
        taken = {rows.name for rows in self._mpcc.equalities}
        self._mpcc.equal(f"{kind}_end" if kind in taken else kind, expr, scale=scale)

    def complement(self, *_: Any, **__: Any) -> None:
        """State nothing: there are no contacts."""

    def least_norm(self, names: Sequence[str]) -> None:
        self._mpcc.least_norm([f"{name}_{self._tag}" for name in names])
