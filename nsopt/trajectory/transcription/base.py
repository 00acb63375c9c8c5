"""The contract of a transcription: a motion as a program with finitely many unknowns."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.checks import check_names
from nsopt.mechanics import Dynamics
from nsopt.mpcc import Bound, Solution, StructuredNlp
from nsopt.simulation import AcceptedSteps, objects
from nsopt.trajectory.checks import check_latches
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.guesses import Guess, Trajectory
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.verification.defects import Defects

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class TranscribedMotion:
    """A motion of n steps, read from the unknowns of a solved program."""

    t: Array  # (n + 1,) [s] of the nodes
    nodes: Trajectory
    drive: Array  # (n + 1, nv) [N m, N] at the nodes
    normal_force: Array  # (n + 1, ng) [N] at the nodes
    accepted: AcceptedSteps
    # (n, 3, nv + number of inputs): drives, then inputs, at start, middle and end of each step.
    step_controls: Array
    controls: Callable[[float], Array]  # the same as a function of t [s], (nv + number of inputs,)
    defects: Defects | None  # of steps, integrated again; None for those of a scheme
    # (n, nv) at midpoints if accelerations are quadratic over steps; else coordinates are cubic, by
    # coordinates and velocities of the nodes.
    middle_accelerations: Array | None = None
    # (n, parts, nv) [N m, N] each, at the shares `PARTS` of steps: drives without the dry friction
    # that they also overcome, and that friction, with the sign of the velocity. By default drives
    # are on parabolas through ``step_controls``.
    step_drives: Array | None = None
    step_friction: Array | None = None
    # (n, ng, 3) [N]: contact forces over steps, minus those along the normals at their starts.
    force_correction: Array | None = None
    # (n + 1, ns) [N] friction of contacts at the nodes, where it is known there.
    friction: Array | None = None
    # (n, nv) at the ends of steps; by default those of the nodes, which differ after an impact.
    last_accelerations: Array | None = None

    @property
    def contact_forces(self) -> tuple[Array, Array] | None:
        """Normal forces and friction at the nodes; None where friction is not known there."""
        return None if self.friction is None else (self.normal_force, self.friction)

    @property
    def defect(self) -> float:
        """The largest of the defects [m, rad]; NaN where none is known."""
        return np.nan if self.defects is None else self.defects.largest

    @property
    def unresolved(self) -> str:
        """Why its steps are not resolved; empty if they are, or no defects are known."""
        return "" if self.defects is None else self.defects.explain()

    @property
    def step_accelerations(self) -> Array:
        """Accelerations at the start, in the middle and at the end of each step, (n, 3, nv).

        NaN where velocities are not rates of the coordinates. In a step that ends with an impact
        they are constant, from the state at its start to the coordinates at its end.
        """
        x = self.nodes
        if self.middle_accelerations is not None:
            last = x.a[1:] if self.last_accelerations is None else self.last_accelerations
            return np.stack([x.a[:-1], self.middle_accelerations, last], axis=1)
        if x.q.shape != x.v.shape:
            return np.full((len(x.v) - 1, 3, x.v.shape[1]), np.nan)
        h = np.diff(self.t)[:, None]
        mean, before, after = np.diff(x.q, axis=0) / h, x.v[:-1], x.v[1:]
        # Second derivatives of the cubic.
        first = (6 * mean - 4 * before - 2 * after) / h
        last = (-6 * mean + 2 * before + 4 * after) / h
        has_impact = np.any(self.accepted.impact_impulse > 0, axis=1)[:, None]
        constant = 2 * (mean - before) / h
        first, last = (np.where(has_impact, constant, x) for x in (first, last))
        return np.stack([first, (first + last) / 2, last], axis=1)


@dataclass(frozen=True, eq=False)
class Transcription(ABC):
    """A motion as unknowns and constraint blocks of a program; arguments as of `optimize`.

    Raises
    ------
    ValueError
        If the transcription does not cover the mechanism, or an input is no Parameter.
    """

    by_polynomials: ClassVar[bool] = False  # whether motions are polynomials between nodes

    dynamics: Dynamics
    horizon: Horizon
    costs: Sequence[Cost]
    conditions: Sequence[Condition]
    inputs: Sequence[str]

    def __post_init__(self) -> None:
        check_latches(self.dynamics)
        why = " is no Parameter of the mechanism"
        check_names("input", self.inputs, self.dynamics.parameter_names, why)

    @property
    @abstractmethod
    def description(self) -> tuple[str, str]:
        """Short name and full description, for the Result."""

    @property
    def creep(self) -> tuple[float, ...]:
        """Speed of each joint up to which the grid smooths dry friction; none by default."""
        return ()

    @property
    def rebounds_by_newton(self) -> bool:
        """Whether contacts rebound by Newton's law, as phases have it."""
        return True

    @property
    def friction_modes(self) -> Array | None:
        """Signs of the slip in joints with dry friction, (steps, joints); None if not given."""
        return None

    @property
    def last_stage(self) -> tuple[float, ...]:
        """The homotopy numbers at which the equations are exact; empty by default."""
        return ()

    @property
    def fits_any_parameters(self) -> bool:
        """Whether the program can be solved for other values of the parameters, too."""
        return True

    @property
    def is_complementary(self) -> bool:
        """Whether the program has complementarity conditions, and so needs a homotopy."""
        return False

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of unknowns."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the unknowns, (size,)."""

    def with_conditions(self, conditions: Sequence[Condition]) -> Transcription:
        """Return the transcription for other conditions; its templates do not depend on them."""
        return self._copy_with("conditions", tuple(conditions))

    def _copy_with(self, name: str, value: object) -> Self:
        """Return a copy with another value of a field, which keeps what is cached."""
        other = copy.copy(self)
        object.__setattr__(other, name, value)
        return other

    @abstractmethod
    def nlp(self) -> StructuredNlp:
        """Return the program."""

    @abstractmethod
    def limits(self) -> tuple[Array, Array]:
        """Return bounds of the unknowns, (size,) each."""

    @property
    def remedy(self) -> str:
        """Advice for messages on a failed solve; empty by default."""
        return ""

    @property
    def durations(self) -> Index:
        """Indices of the unknowns that the longest duration bounds; none where it is given."""
        low, high = self.horizon.bounds
        are_times = np.array([name in ("time", "duration") for name in self.names()])
        return np.flatnonzero(are_times & (self.limits()[1] == high) & (low < high))

    @property
    def free_unknowns(self) -> Index:
        """Indices of the unknowns on which no equation and no cost depends; none by default."""
        return np.zeros(0, dtype=np.intp)

    def is_resolved(self, x: Array, p: Array, share: float = 1.0) -> bool:
        """Return whether steps, integrated again, end near their nodes; by default they do.

        That is within the ``share`` of the distance `Horizon.defect`. ``x`` (size,) are the
        unknowns, ``p`` (np,) the parameters of the mechanism.
        """
        del x, p, share
        return True

    def find_undetermined(self, counted: NDArray[np.bool_]) -> list[str]:
        """Return the names of driven velocities whose motion costs nothing; none by default.

        ``counted`` (size,) tells on which unknowns costs depend.
        """
        del counted
        return []

    def parameters(self, p: Array) -> Array:
        """Return the parameters of the program at its last homotopy stage, p (np,) first."""
        return np.append(p, self.last_stage)

    @abstractmethod
    def start_from(self, guess: Guess) -> Array:
        """Return the unknowns (size,) of a guessed motion."""

    @abstractmethod
    def nodes(self, x: Array) -> tuple[Array, Array, Array]:
        """Return times (n + 1,), coordinates (n + 1, nq) and inputs (n + 1, nu) of the nodes.

        All are linear in the unknowns ``x``.
        """

    @abstractmethod
    def motion(self, solution: Solution, p: Array) -> TranscribedMotion:
        """Return the motion of a solution, with parameters p (np,) of the mechanism."""


def make_accepted_steps(
    solution: Solution,
    t: Array,
    q: Array,
    v: Array,
    loss: Array,
    work: Array,
    impulses: tuple[Array, Array, Array, Array],
    projection_work: Array | None = None,
    at_end: bool = True,
) -> AcceptedSteps:
    """Return n steps, each with an equal part of the iterations and the time of a solution.

    ``t``, ``q`` and ``v`` are those of n + 1 nodes; ``impulses`` are those of contacts, the part of
    these in impacts, those of joints and of slips. The rest is as in `AcceptedSteps`.
    """
    n = len(t) - 1
    impulse, impact, joint_impulse, slip_impulse = impulses
    return AcceptedSteps(
        t=t[1:],
        h=np.diff(t),
        q=q[1:],
        v=v[1:],
        impulse=impulse,
        impact_impulse=impact,
        contact_mode=np.zeros_like(impulse),
        joint_impulse=joint_impulse,
        slip_impulse=slip_impulse,
        motion_residual=np.full(n, solution.residuals.violation),
        loss=loss,
        work=work,
        projection_work=np.zeros(n) if projection_work is None else projection_work,
        iterations=np.full(n, solution.iterations / n),
        solve_time=np.full(n, solution.time / n),
        retries=np.zeros(n),
        reason=objects(["optimum"] * n),
        tried=objects([()] * n),
        at_end=np.full(n, at_end),
        depth=np.zeros(n),
        unplaced=np.zeros(n),
        overdue=np.zeros(n),
        how=np.zeros(n, dtype=np.int64),
    )


def zero(label: str, value: ca.SX) -> Bound:
    """Return the bound of a value (n,) that is zero."""
    zeros = np.zeros(value.numel())
    return Bound(label, value, zeros, zeros)


def not_negative(label: str, value: ca.SX) -> Bound:
    """Return the bound of a value (n,) that is not below zero."""
    n = value.numel()
    return Bound(label, value, np.zeros(n), np.full(n, np.inf))


def with_inputs(dynamics: Dynamics, inputs: Sequence[str], p: ca.SX, u: ca.SX) -> ca.SX:
    """Return parameters p, SX (np,), with ``inputs`` among them replaced by u, SX (nu,)."""
    index = {name: k for k, name in enumerate(inputs)}
    names = enumerate(dynamics.parameter_names)
    entries = [u[index[x]] if x in index else p[i] for i, x in names]
    return ca.vertcat(ca.SX(0, 1), *entries)
