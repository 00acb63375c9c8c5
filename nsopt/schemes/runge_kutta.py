"""Runge and Kutta's steps on accelerations, joints by Baumgarte's stabilisation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import casadi as ca

from nsopt.arrays import Array
from nsopt.checks import not_negative
from nsopt.mechanics import Dynamics, IndexOne, Instant, explicit_index_one, state_index_one
from nsopt.mpcc import Mpcc
from nsopt.schemes.balance import Balance, Impulses
from nsopt.schemes.errors import Errors
from nsopt.schemes.node import Node, StepStart
from nsopt.schemes.scales import Scales
from nsopt.schemes.scheme import Scheme
from nsopt.schemes.step import Step, Transition, sum_columns
from nsopt.schemes.terms import kinetic, smooth_forces


class _Stage(NamedTuple):
    """A stage of the step."""

    at: Instant
    found: IndexOne  # accelerations, multipliers and friction of joints, rates of q there


@dataclass(frozen=True)
class RungeKutta(Scheme):
    """The classical step of four stages on the index-1 equations [CoPCoD 2023, eqs. 26, 33].

    ==============  ==================================================================
    each stage      M vdot - F mu = K + friction,   qdot = N v
    ideal joints    C vdot + d(C v + dPhi/dt)/dt|_vdot=0 = -2 alpha dPhi/dt - beta^2 Phi
    end             (q, v)_n+1 = (q, v)_n + h/6 (k_1 + 2 k_2 + 2 k_3 + k_4)
    ==============  ==================================================================

    with the multipliers mu of joints as unknowns, those of redundant rows of least norm; the
    paper eliminates them, with the same motion. Euler parameters are divided by their norm at the
    end. Friction of joints acts at the instant of each stage, internal states are integrated.

    Where no joint is to be closed, as in a tree in relative coordinates, and none rubs by its
    reaction, M = L D L^T gives the accelerations: there is nothing to solve for.

    Ideal joints are no equations of the coordinates: what is off, at the start too, decays as
    exp(s t) with s^2 + 2 alpha s + beta^2 = 0, and what the steps add stays of order h^4 / beta^2.
    Explicit: h times the highest of the frequencies, and of these rates, must stay below 2.8.

    For mechanisms without contacts, without horizons.

    Parameters
    ----------
    alpha, beta : float [1/s]
        Gains on rates and residuals of the ideal joints. Equal ones are aperiodic and fastest.

    Attributes
    ----------
    weights : tuple of float
        Of the rates of each stage, in sum 1.
    reaches : tuple of float
        Part of h at which each stage is, along the rates of the one before.
    uneven : tuple of float
        Weights of the stages whose mean acceleration, times h, estimates the local error.

    Raises
    ------
    ValueError
        If a gain is negative.
    """

    order: ClassVar[int] = 4
    takes_contacts: ClassVar[bool] = False
    takes_joint_friction: ClassVar[bool] = True
    weights: ClassVar[tuple[float, ...]] = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
    reaches: ClassVar[tuple[float, ...]] = (0.0, 1 / 2, 1 / 2, 1.0)
    uneven: ClassVar[tuple[float, ...]] = (1 / 6, -1 / 6, -1 / 6, 1 / 6)

    alpha: float = 50.0
    beta: float = 50.0

    def __post_init__(self) -> None:
        name = type(self).__name__
        not_negative(f"alpha of {name}", self.alpha)
        not_negative(f"beta of {name}", self.beta)

    @property
    def gains(self) -> tuple[float, float]:
        return self.alpha, self.beta

    @property
    def error_order(self) -> int:
        """That of the estimate."""
        return 2

    def check(self, dynamics: Dynamics, p: Array) -> None:
        super().check(dynamics, p)
        if dynamics.latches:
            name = type(self).__name__
            raise ValueError(
                f"{name} integrates rates of internal states, but {dynamics.latches[0]!r} is "
                "set at once when contact begins: use Variational, or state it as a number"
            )

    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        """State the stages, one program after the other."""
        d, now = dynamics, Instant(start.t, start.q, start.v, start.p)
        stages: list[_Stage] = []
        for k, reach in enumerate(self.reaches):
            x = now if not stages else _advance(now, stages[-1], reach * h)
            if not d.closure_names and not d.friction_joints:
                stages.append(_Stage(x, explicit_index_one(d, x)))
                continue
            with mpcc.before(f"stage_{k + 1}") as program:
                sizes = (scales.force, scales.mass)
                stages.append(_Stage(x, state_index_one(program, d, x, self.gains, sizes)))
        q = now.q + h * _average(self.weights, [s.found.qdot for s in stages])
        v = now.v + h * _average(self.weights, [s.found.vdot for s in stages])
        end = Node.without_drives(d, start.t + h, d.renormalise(q), start.p, v)
        parts = zip(self.weights, stages, strict=True)
        balances = tuple(_make_balance(d, w * h, stage) for w, stage in parts if w)
        uneven, M = h * _average(self.uneven, [s.found.vdot for s in stages]), balances[-1].M
        # |v_n|^2 + |v_n+1|^2 + |dv|^2 in the metric of the mass, as it is from rest on.
        energies = 4 * (d.kinetic(*now) + d.kinetic(end.t, end.q, v, end.p))
        square = 2 * kinetic(M, uneven)
        speed = ca.sqrt(square * d.nv / ca.trace(M))
        errors = Errors(ca.sqrt(square * energies), h * speed)
        step = Step.of(Transition(balances, end), h, errors)
        works = [b.load_work + ca.dot(b.F @ b.impulses.mu, b.after) for b in balances]
        return replace(
            step,
            # The sizes of all stages are about that of the last.
            motion_size=len(balances) * balances[-1].size / h + ca.fabs(balances[-1].K),
            work=sum_columns(works),
            closure=ca.SX.zeros(len(d.closure_names)),
        )


def _average(weights: tuple[float, ...], rates: list[ca.SX]) -> ca.SX:
    """Return the weighted sum of the rates of all stages."""
    return sum_columns([w * rate for w, rate in zip(weights, rates, strict=True)])


def _advance(now: Instant, stage: _Stage, h: ca.SX) -> Instant:
    """Return the state after h at the rates of a stage."""
    q, v = now.q + h * stage.found.qdot, now.v + h * stage.found.vdot
    return Instant(now.t + h, q, v, now.p)


def _make_balance(d: Dynamics, h: ca.SX, stage: _Stage) -> Balance:
    """Return what a stage adds to the step, of which ``h`` is its part."""
    (t, q, v, p), (vdot, mu, friction, _) = stage
    M = d.mass(q, p)
    return Balance.of(
        d,
        Node.without_drives(d, t, q, p, v),
        (v, v),
        h,
        smooth_forces(d, t, q, p, v),
        Impulses.zero(d)._replace(mu=h * mu),
        M=M,
        joint_friction=h * friction,
        momenta=(ca.SX(d.nv, 1), h * M @ vdot),
    )


@dataclass(frozen=True)
class ExplicitMidpoint(RungeKutta):
    """Runge's step of two stages on the equations of `RungeKutta`, of second order.

    ==============  ==================================================================
    end             (q, v)_n+1 = (q, v)_n + h k_2,   k_2 at (q, v)_n + h/2 k_1
    ==============  ==================================================================

    The quickest step of a tree in free motion, for a given h. For a given error, `RungeKutta` takes
    less time. What swings without damping at w grows by (w h)^4 / 8 a step. The estimate of the
    local error is that of Euler's step, far above its own.
    """

    order: ClassVar[int] = 2
    weights: ClassVar[tuple[float, ...]] = (0.0, 1.0)
    reaches: ClassVar[tuple[float, ...]] = (0.0, 1 / 2)
    uneven: ClassVar[tuple[float, ...]] = (-1.0, 1.0)

    @property
    def error_order(self) -> int:
        return 1
