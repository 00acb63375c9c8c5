"""Higher order by composition of symmetric steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.stepping.node import Node, Passage
from nsopt.stepping.scheme import Array, Scales, Scheme, Step, StepStart
from nsopt.stepping.terms import kick
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

    holds_inputs: ClassVar[bool] = True

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

    def check_horizon(self, dynamics: Dynamics, p: Array) -> None:
        self.check(dynamics, p)

    def add_interval(
        self,
        mpcc: Mpcc,
        dynamics: Dynamics,
        first: Node,
        second: Node,
        before: ca.SX,
        scales: Scales,
    ) -> Passage:
        """State the parts of a step one after another; states between them are unknowns."""
        del before
        d, h, now = dynamics, second.t - first.t, first
        impulse, work = ca.SX.zeros(len(d.closure_names)), ca.SX(0)
        for k, weight in enumerate(self.weights):
            end = replace(second, t=now.t + weight * h)
            if k < len(self.weights) - 1:
                q = mpcc.variable(f"q_{k}", d.nq, guess=first.q)
                end = replace(end, q=q, v=mpcc.variable(f"v_{k}", d.nv, guess=first.v))
            mu, done = self._part(mpcc, d, (now, end), (k, weight * h), first, scales)
            impulse, work, now = impulse + mu, work + done, end
        passage = Passage.still(d, first.v, h)
        return replace(
            passage, change=second.v - first.v, joint_impulse=impulse, work=work, share=h
        )

    def _part(
        self,
        mpcc: Mpcc,
        d: Dynamics,
        ends: tuple[Node, Node],
        part: tuple[int, ca.SX],
        held: Node,
        scales: Scales,
    ) -> tuple[ca.SX, ca.SX]:
        """State part k of h [s]; return the impulses of joints and the work from outside.

        Parameters of the mechanism and forces of drives are those ``held`` over the whole step.
        """
        (first, second), (k, h), p = ends, part, held.p
        at, there = (first.t, first.q, p), (second.t, second.q, p)
        v = mpcc.variable(f"v_half_{k}", d.nv, guess=held.v)
        after = v if d.constant_mass else mpcc.variable(f"v_after_{k}", d.nv, guess=held.v)
        C, C_end = (d.closure_matrix(*x) for x in (at, there))
        M, M_end = (d.mass(*x[1:]) for x in (at, there))
        nc = len(d.closure_names)
        mu, mu_end = (mpcc.variable(f"{x}_{k}", nc, scale=scales.impulse) for x in ("mu", "mu_end"))
        pushed, pushed_end = kick(d, *at, v) + held.drive, kick(d, *there, after) + held.drive
        rows = {
            "motion": M @ (v - first.v) - h / 2 * pushed - C.T @ mu,
            "motion_end": M_end @ (second.v - after) - h / 2 * pushed_end - C_end.T @ mu_end,
        }
        if after is not v:
            rows["momentum"] = M_end @ after - M @ v
        for name, row in rows.items():
            mpcc.equal(f"{name}_{k}", row, scale=scales.impulse)
        moved = d.retract(first.q, h * (v + after) / 2)
        mpcc.equal(f"move_{k}", second.q - moved, scale=scales.time)
        mpcc.equal(f"closure_{k}", d.closure(*there), scale=scales.time)
        mpcc.equal(f"joint_rate_{k}", C_end @ second.v + d.closure_drift(*there))
        means = (first.v + v) / 2, (after + second.v) / 2
        works = [
            ca.dot(d.external(*x[:2], u, p) + held.drive, mean)
            for x, u, mean in ((at, v, means[0]), (there, after, means[1]))
        ]
        return mu + mu_end, h / 2 * (works[0] + works[1])


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
