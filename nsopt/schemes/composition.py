"""Higher order by composition of symmetric steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import casadi as ca

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.balance import Balance
from nsopt.schemes.contact_aligned import ContactAligned
from nsopt.schemes.contacts.held_move import HeldMove
from nsopt.schemes.errors import Errors, sum_errors
from nsopt.schemes.half_steps import HalfSteps
from nsopt.schemes.node import StepStart
from nsopt.schemes.one_step import HorizonStep, OneStep
from nsopt.schemes.scales import Scales
from nsopt.schemes.scheme import Scheme
from nsopt.schemes.step import Interval, Step, Transition, sum_columns
from nsopt.schemes.variational import Variational

SUZUKI = 1 / (4 - 4 ** (1 / 3))
ONE_NUMBER = 1e-2  # of the round-off of an equation, that of a number


@dataclass(frozen=True)
class Composition(ContactAligned):
    """Five steps of second order in one of fourth, between changes of contact [Suzuki 1990].

    Sizes w h, w h, (1 - 4 w) h, w h, w h with w = 1 / (4 - 4^(1/3)): two forward, one backward,
    two forward, so that the third-order errors cancel. They are steps of `Variational` where a
    mechanism has no contacts, else of `ContactAligned` with one set of modes, those at the start:
    what presses and what sticks are equations, friction of what slips keeps its direction in the
    backward part too, and which event is the first, an equation for h, is seen at the end of the
    fifth. No part leaves the step, so contacts are not beyond their events on the way. Damping is
    run backwards for a while.

    Parameters
    ----------
    v_rest, closed, impact
        Of `ContactAligned`.
    weights : tuple of float
        Parts of h, in sum one and symmetric; best such that no part leaves the step.
    """

    order: ClassVar[int] = 4
    takes_rate_constraints: ClassVar[bool] = False
    takes_joint_friction: ClassVar[bool] = False

    weights: tuple[float, ...] = (SUZUKI, SUZUKI, 1 - 4 * SUZUKI, SUZUKI, SUZUKI)

    def __post_init__(self) -> None:
        super().__post_init__()
        if abs(sum(self.weights) - 1) > 1e-12 or self.weights != self.weights[::-1]:
            raise ValueError(f"weights must be symmetric and add up to 1, got {self.weights}")

    @property
    def error_order(self) -> int:
        """That of the parts, whose errors are known."""
        return Variational.order

    @property
    def fallback(self) -> Scheme:
        return ContactAligned(self.v_rest, self.closed, self.impact)

    def check_horizon(self, dynamics: Dynamics, p: Array) -> None:
        if dynamics.contact_names:
            raise ValueError(
                "Composition has no contacts over a horizon, but this mechanism has "
                f"{dynamics.contact_names[0]!r}: use Variational or ContactAligned"
            )
        super().check_horizon(dynamics, p)

    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        """State the parts: as programs before this one, all alike, or, with contacts, in it."""
        if dynamics.contact_names:
            return super().add_step(mpcc, dynamics, start, h, scales)
        pattern = _StepPattern(mpcc, dynamics, start, h, scales)
        steps, now = list[Step](), start
        for k, weight in enumerate(self.weights):
            steps.append(pattern.repeat(mpcc, k, now, weight * h))
            end = steps[-1].transition.end
            now = StepStart(end.t, end.q, end.v, start.p)
        balances = tuple(b for step in steps for b in step.transition.balances)
        errors = sum_errors(Errors(step.energy_error, step.local_error) for step in steps)
        return Step.of(Transition(balances, steps[-1].transition.end), h, errors)

    def _divide(self, one: OneStep) -> list[HeldMove]:
        moves, now = list[HeldMove](), one.start
        for k, weight in enumerate(self.weights):
            moves.append(HeldMove(one.part(k, now, weight, last=k == len(self.weights) - 1)))
            now = moves[-1].end
        return moves

    def add_modes(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> StepStart:
        if not dynamics.contact_names:
            return start
        return super().add_modes(mpcc, dynamics, start, h, scales)

    def add_projection(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, scales: Scales, step: Step
    ) -> Step:
        if not dynamics.contact_names:
            return step
        whole = super().add_projection(mpcc, dynamics, start, scales, step)
        return replace(whole, motion_size=whole.motion_size + find_normal_sizes(step, start.p))

    def add_interval(self, one: HorizonStep, before: ca.SX) -> Interval:
        """State the parts one after another, the states between as unknowns."""
        del before
        no_contacts, balances, now = ca.SX(0, 1), list[Balance](), one.start
        for k, weight in enumerate(self.weights):
            part = one.part(k, now, weight, last=k == len(self.weights) - 1)
            x = HalfSteps(part).state(now.v, (no_contacts, no_contacts))
            part.least_norm("mu", "mu_end")
            balances, now = [*balances, *x.balances], x.end
        return Interval.of(one.start, Transition(tuple(balances), now), one.h)

    def add_ending(self, one: HorizonStep, before: ca.SX) -> Interval:
        return Interval.end(one.dynamics, one.start.v, before)


def find_normal_sizes(step: Step, p: ca.SX) -> ca.SX:
    """Return by what the round-off of normals adds to the size of the equations, (nv,) [N, N m].

    A normal in a bore of the clearance c turns by 1/c times the round-off of coordinates. Those of
    a part are not solved for again once the parts before it are as exact as they get.
    """
    d, q = step.transition.dynamics, step.q
    turns = ONE_NUMBER * ca.norm_inf(q) / d.gap_scale(p)
    pushes = [
        ca.fabs(b.node.W) @ (turns * ca.fabs(b.impulses.lam)) for b in step.transition.balances
    ]
    return sum_columns(pushes) / step.h


class _StepPattern:
    """A step of h from a start as two programs, whose code serves each step that repeats it."""

    def __init__(self, mpcc: Mpcc, d: Dynamics, start: StepStart, h: ca.SX, scales: Scales) -> None:
        self._scheme, self._d, self._scales = Variational(), d, scales
        self._half = mpcc.beside("half")
        step = self._scheme.add_step(self._half, d, start, h, scales)
        self._end = self._half.after("end")
        self._scheme.add_projection(self._end, d, start, scales, step)

    def repeat(self, mpcc: Mpcc, k: int, start: StepStart, h: ca.SX) -> Step:
        """State step k of h from a start, before a program."""
        given = {"t": start.t, "q": start.q, "v": start.v, "h": h}
        with mpcc.before(f"half_{k}") as half:
            step = self._scheme.add_step(half, self._d, start, h, self._scales)
            half.repeats(self._half, **given)
        given["half"] = mpcc.parameters[-1].symbol
        with mpcc.before(f"end_{k}") as end:
            whole = self._scheme.add_projection(end, self._d, start, self._scales, step)
            end.repeats(self._end, **given)
        return whole
