"""A scheme, as CONTRIBUTING says: one class for simulations and horizons, an export, a row."""

from dataclasses import dataclass, replace
from typing import ClassVar

import casadi as ca
import numpy as np
import pytest

from nsopt import Body, ContactLaw, Frame, Mechanism, PlaneContact, StepBounds, assemble, simulate
from nsopt.mechanics import Dynamics
from nsopt.schemes import (
    Balance,
    Impulses,
    OneStep,
    Step,
    Transition,
    UnifiedScheme,
    smooth_forces,
)
from tests.catalog_methods import SCHEMES
from tests.recipes.generic import runs
from tests.schemes import test_orders, test_schemes
from tests.trajectory import test_any_dynamics


@dataclass(frozen=True)
class ImplicitEuler(UnifiedScheme):
    """Implicit Euler with contacts and joints closed at the end of the step.

    ==============  ============================================================
    motion          M (v_n+1 - v_n) = h K(q_n, v_n+1) + W lam + C^T mu
    positions       q_n+1 = q_n (+) h v_n+1,  Phi(q_n+1) = 0
    contact         0 <= g(q_n+1) _|_ lam >= 0
    ==============  ============================================================

    with M, K, W, C at q_n. No restitution, no friction.
    """

    order: ClassVar[int] = 1
    forces_at_end: ClassVar[bool] = False
    holds_inputs: ClassVar[bool] = True

    def check(self, dynamics: Dynamics, p: np.ndarray) -> None:
        super().check(dynamics, p)
        for law in ("restitution", "friction", "viscous"):
            if np.any(np.asarray(getattr(dynamics, law)(p))):
                raise ValueError(f"ImplicitEuler knows no {law}: use Variational or MoreauJean")

    def state(self, one: OneStep) -> Transition:
        d, start, h, scales = one.dynamics, one.start, one.h, one.scales
        v = one.end_velocity()
        mu, lam = one.impulse_of_joints("joint_impulse"), one.impulse_of_contacts("impulse")
        impulses = Impulses(mu, lam, ca.SX.zeros(len(d.slip_contacts)))
        K = smooth_forces(d, *start.at, v) + start.drive
        balance = Balance.of(d, start, (start.v, v), h, K, impulses, acting=v)
        end = one.end(d.retract(start.q, h * v), v)
        one.equal("motion", balance.residual, scale=scales.impulse)
        one.equal("closure", d.closure(*end.at), scale=scales.time)
        sizes = (scales.gap, scales.impulse)
        one.mpcc.complement("contact", end.gap, lam, scale=sizes, labels=d.contact_names)
        one.least_norm("impulse", "joint_impulse")
        return Transition((balance,), end)

    def refine(self, step: Step) -> Step:
        return replace(step, frozen=step.impulse)


@runs(test_schemes, "scheme", SCHEMES[0])
def test_is_a_scheme_like_any_other(check):
    check(ImplicitEuler())


@pytest.mark.slow
@runs(test_any_dynamics, "scheme", SCHEMES[0])
def test_is_the_same_over_a_horizon(check):
    check(ImplicitEuler())


@pytest.mark.slow
def test_its_order_is_one():
    sizes = np.array([2e-3, 1e-3, 5e-4])
    assert test_orders.order(test_orders.ideal_pendulum, ImplicitEuler(), sizes) == pytest.approx(
        1, abs=0.1
    )


def test_what_it_does_not_know_is_refused():
    ball = Body("ball", 1.0, point_mass=True, position=(0, 0, 1))
    floor = PlaneContact("floor", Frame(None), Frame(ball), law=ContactLaw(restitution=0.5))
    d = assemble(Mechanism([ball]), [floor], gravity=(0, 0, -9.81))
    with pytest.raises(ValueError, match="ImplicitEuler knows no restitution"):
        simulate(d, duration=0.1, steps=StepBounds(1e-3, 1e-3), scheme=ImplicitEuler())
