"""Higher order by composition of symmetric steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from nsopt.schemes.balance import Balance
from nsopt.schemes.errors import Errors, symmetric_errors
from nsopt.schemes.half_steps import HalfSteps
from nsopt.schemes.one_step import OneStep
from nsopt.schemes.scheme import UnifiedScheme
from nsopt.schemes.step import Transition, total
from nsopt.schemes.variational import Variational

SUZUKI = 1 / (4 - 4 ** (1 / 3))


@dataclass(frozen=True)
class Composition(UnifiedScheme):
    """Five steps of `Variational` in one, of fourth order [Suzuki 1990].

    Sizes w h, w h, (1 - 4 w) h, w h, w h with w = 1 / (4 - 4^(1/3)): two forward, one backward,
    two forward, so that the third-order errors cancel. For mechanisms without contact; an impact
    or a switch would cost the order, and damping would be run backwards for a while.

    Parameters
    ----------
    weights : tuple of float
        Parts of h, in sum one and symmetric.
    """

    order: ClassVar[int] = 4
    holds_inputs: ClassVar[bool] = True
    takes_contacts: ClassVar[bool] = False

    weights: tuple[float, ...] = (SUZUKI, SUZUKI, 1 - 4 * SUZUKI, SUZUKI, SUZUKI)

    def __post_init__(self) -> None:
        if abs(sum(self.weights) - 1) > 1e-12 or self.weights != self.weights[::-1]:
            raise ValueError(f"weights must be symmetric and add up to 1, got {self.weights}")

    @property
    def error_order(self) -> int:
        """That of the parts, whose errors are known."""
        return Variational.order

    def state(self, one: OneStep) -> Transition:
        """State the parts of the step one after another."""
        none, balances, now = ca.SX(0, 1), list[Balance](), one.start
        for k, weight in enumerate(self.weights):
            part = one.part(k, now, weight, last=k == len(self.weights) - 1)
            x = HalfSteps(part).state(now.v, none, none)
            part.least_norm("mu", "mu_end")
            balances, now = [*balances, *x.balances], x.end
        return Transition(tuple(balances), now)

    def errors(self, x: Transition, h: ca.SX) -> Errors:
        parts = []
        for k, weight in enumerate(self.weights):
            halves = first, second = x.balances[2 * k], x.balances[2 * k + 1]
            v, mu = second.before, first.impulses.mu + second.impulses.mu
            parts.append(symmetric_errors(halves, weight * h, v, mu))
        return Errors(
            total([part.energy for part in parts]), total([ca.fabs(x.position) for x in parts])
        )
