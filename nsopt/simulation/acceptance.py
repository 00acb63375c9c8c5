"""The conditions that a solved step must meet, recomputed from its numbers: `Acceptance`.

`StepEnd` has these numbers, `Acceptance.checks` the rows value <= limit, `StackedChecks` all rows
as one vector, so that compiled code can judge a step too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics
from nsopt.schemes import ContactEvent, Step, StepStart

PRESSED = 1e-9  # of the momentum at hand, the impulse from which a contact counts as pressing
SHORTEST = 1e-11  # the least h [s]

TOUCHING = 1e-2
"""Of the gap tolerance, how far a contact may be open and still press with any force."""

ROUND_OFF = 1e-12
"""Of energies, the part of their difference that counts as zero."""

RESIDUAL_ROUND_OFF = 1e-14
"""Of the terms of an equation of motion, the part that its residual cannot fall below."""

EVENTS = {
    ContactEvent.CLOSING: "contact event: closing",
    ContactEvent.OPENING: "contact event: opening",
    ContactEvent.GRAZING: "contact event: grazing",
    ContactEvent.STICK_SLIP: "contact event: stick or slip",
}
"""The reason of h of a step that ends at a change of contact."""


class StepEnd(NamedTuple):
    """A solved step in numbers (or, when stated, in expressions)."""

    h: Any  # (1,) [s]
    q: Any  # (nq,)
    v: Any  # (nv,)
    impulse: Any  # (ng,) [N s]
    impact_impulse: Any  # (ng,) [N s] the part of them that acted at once
    joint_impulse: Any  # (nm,)
    slip_impulse: Any  # (ns,) [N s]
    gap: Any  # (ng,) [m] complementary to the impulse
    motion: Any  # (nv,) [N, N m] residual of the equations of motion
    motion_size: Any  # (nv,) [N, N m] sum of the sizes of its terms
    closure: Any  # (nc,) [m, 1] of the ideal joints
    turn: Any  # (ng,) cosine between the normals at both ends where a contact presses, 1 elsewhere
    loss: Any  # (ng,) [J] taken by each contact
    pressed_loss: Any  # (ns,) [J] dissipated where forces press surfaces apart
    work: Any  # (1,) [J] of applied loads
    projection_work: Any  # (1,) [J]
    contact_work: Any  # (1,) [J]
    wall_change: Any  # (1,) [J] by which works depend on when velocities of walls are taken
    contact_energy: Any  # (1,) [J] kinetic, of the motions that contacts act on
    kinetic_energy: Any  # (1,) [J] mean of both ends
    energy_gain: Any  # (1,) [J] less the work of applied loads
    energy_error: Any  # (1,) [J] embedded estimate
    energy_size: Any  # (1,) [J] of the energies whose difference is the gain
    local_error: Any  # (1,) [m] embedded estimate, of the coordinates
    depth: Any  # (1,) this and the next four are `WallFigures`
    swing: Any  # (1,)
    late: Any  # (1,) [s]
    overdue: Any  # (1,) [s]
    unplaced: Any  # (1,) [J]
    event: Any  # (1,) a `ContactEvent`

    @classmethod
    def of(cls, d: Dynamics, start: StepStart, step: Step) -> StepEnd:
        """Return the end of a step as dense expressions."""
        h = step.h
        before = (start.t, start.q, start.v, start.p)
        after = (start.t + h, step.q, step.v, start.p)
        energies = [f(*at) for f in (d.kinetic, d.potential) for at in (after, before)]
        kinetic, kinetic_before, potential, potential_before = energies
        end = cls(
            h,
            step.q,
            step.v,
            step.impulse,
            step.impact_impulse,
            step.joint_impulse,
            step.slip_impulse,
            step.gap,
            step.motion_residual,
            step.motion_size,
            step.closure,
            _find_turn(d, start, step),
            step.loss,
            step.pressed_loss,
            step.work,
            step.projection_work,
            step.contact_work,
            step.wall_change,
            step.contact_energy,
            (kinetic + kinetic_before) / 2,
            kinetic
            - kinetic_before
            + potential
            - potential_before
            - step.work
            - ca.fmax(step.joint_friction_work, 0),
            step.energy_error,
            ca.sum1(ca.fabs(ca.vertcat(*energies))),
            step.local_error,
            step.walls.depth,
            step.walls.swing,
            step.walls.late,
            step.walls.overdue,
            step.walls.unplaced,
            step.event,
        )
        return cls(*(ca.densify(expression) for expression in end))


def _find_turn(d: Dynamics, start: StepStart, step: Step) -> ca.SX:
    """Return `StepEnd.turn`, (ng,)."""
    before, after = (start.t, start.q, start.p), (start.t + step.h, step.q, start.p)
    cosine = ca.sum1(d.contact_normals(*before) * d.contact_normals(*after)).T
    momentum = d.mass(start.q, start.p) @ start.v
    load = step.h * d.applied(start.t, start.q, start.v, start.p)
    size = ca.norm_inf(ca.fabs(momentum) + ca.fabs(load))
    # On the axis of a bore the contact has no direction and its impulse no effect: slope 0.
    presses = d.slope(*before) * step.frozen > PRESSED * size
    return ca.if_else(presses, cosine, 1)


class Fault(NamedTuple):
    """The reason for which a step is refused."""

    kind: str  # what is not as it should be; attempts that fail by the same are counted together
    figures: str = ""  # by how much
    unphysical: bool = False  # the equations are met, but only a smaller step can help
    by_contacts: bool = False  # contacts gave energy
    of_solver: bool = False  # where the solver ended, which says nothing of the mechanism

    def __str__(self) -> str:
        return f"{self.kind} {self.figures}".rstrip()


class Criterion(NamedTuple):
    """Rows that a step must meet: value <= limit; not a number meets nothing."""

    kind: str  # of its fault, with {name}
    figures: str  # of its fault, with {value} and {limit}
    names: Sequence[str]
    value: ca.SX
    limit: ca.SX
    unphysical: bool = False
    quick_limit: ca.SX | None = None  # less than the limit and quick to compute; else the limit
    by_contacts: bool = False


@dataclass(frozen=True)
class Acceptance:
    """The limits that a step must meet, whatever the status of its solver.

    Parameters
    ----------
    motion : float [N, N m]
        Equations of motion; never below their round-off.
    gap : float [m]
        How far a gap may be violated.
    closure : float [m, rad]
        Ideal joints.
    complementarity : float [N m]
        Force times gap; not judged where the gap is within 1 % of its tolerance.
    contact_work : float
        Positive work of the contact impulses over the kinetic energy of what they act on:
        inelastic contacts do none, but for what their directions turn in a step, (w h)^2. Newton's
        law with several elastic contacts at once, or with friction, can do some.
    energy : float
        Energy gained, less the work of applied loads, over the estimate of its local error.
    growth : float
        The same gain over the kinetic energy; reached where h is too long for a spring.
    negligible : float
        The same gain over the kinetic energy that needs no estimate: gains of the step equations
        fall with h^3 as the estimate does, so that no h would help where that is a little low.

    Raises
    ------
    ValueError
        If a limit is not a positive number.

    Notes
    -----
    Gaps and joints are judged as the scheme takes them: at the stored coordinates, or linearised
    where it was asked for the printed form. The record always shows the true ones. Where all loads
    are below 1 N, limits of forces shrink in proportion.

    A contact that presses must still push off its wall at the end of the step: where the contact
    travels further than the clearance in one step, the direction frozen at its start can point
    into the opposite wall, and the equations have solutions that are no motion of the mechanism.
    """

    motion: float = 1e-9
    gap: float = 1e-10
    closure: float = 1e-10
    complementarity: float = 1e-9
    contact_work: float = 0.01
    energy: float = 10.0
    growth: float = 0.5
    negligible: float = 1e-8

    def __post_init__(self) -> None:
        for name, limit in vars(self).items():
            if not 0 < limit < np.inf:
                raise ValueError(f"acceptance limit {name} must be a positive number, got {limit}")

    def checks(self, end: StepEnd, d: Dynamics, force: ca.SX) -> list[Criterion]:
        """Return all that a step must meet, in the order in which faults are reported.

        Parameters
        ----------
        end : StepEnd
            In expressions.
        d : Dynamics
        force : SX scalar [N]
            Typical force of the run.
        """
        # A sum is not finite if one of its terms is not. Not times zero, which CasADi simplifies
        # away. What limits alone are made of is computed only where quick ones are not met; it is
        # finite where motion and kinetic energy are, and no value is within a limit of no number.
        names = ("energy_error", "local_error", "motion_size", "contact_energy")
        others = end._replace(**dict.fromkeys(names, ca.SX(0)))
        finite = 1e-300 * ca.fabs(ca.sum1(ca.vertcat(*others)))
        return [
            Criterion("a number that is not finite", "", ("",), finite, ca.SX(1)),
            Criterion("a step of no length", "", ("",), -end.h, ca.SX(-SHORTEST), True),
            *self._check_residuals(end, d, ca.fmin(force, 1.0)),
            Criterion(
                "contact {name!r} turned by more than 90 deg",
                "",
                d.contact_names,
                -end.turn,
                ca.SX.zeros(end.turn.numel()) - 1e-300,  # so that a right angle is too much
                True,
            ),
            *self._check_energy(end, force),
        ]

    def _check_residuals(self, end: StepEnd, d: Dynamics, share: ca.SX) -> list[Criterion]:
        """Return the checks of equations; limits of forces are this share of the stated ones."""
        force, least = end.impulse / end.h, self.motion * share
        motion = ca.fmax(least, RESIDUAL_ROUND_OFF * end.motion_size)
        # The force of an impact is its impulse over h, however small h is: the gap then decides.
        product = ca.fmax(self.complementarity * share, TOUCHING * self.gap * ca.fabs(force))
        adhesion = ca.fmax(least, RESIDUAL_ROUND_OFF * ca.mmax(end.motion_size))
        rows = (
            ("equation of motion", end.motion, d.v_names, motion, "N", least),
            ("ideal joint", end.closure, d.closure_names, ca.SX(self.closure), "m", None),
            ("gap", ca.fmin(end.gap, 0), d.contact_names, ca.SX(self.gap), "m", None),
            ("complementarity of", force * end.gap, d.contact_names, product, "N m", None),
            ("adhesion of", ca.fmin(force, 0), d.contact_names, adhesion, "N", least),
        )
        return [
            Criterion(
                f"{row} {{name!r}}",
                f"off by {{value:.2g}} {unit}",
                names,
                ca.fabs(value),
                limit,
                quick_limit=quick_limit,
            )
            for row, value, names, limit, unit, quick_limit in rows
        ]

    def _check_energy(self, end: StepEnd, force: ca.SX) -> list[Criterion]:
        # A force within the tolerance of a gap does this much work either way.
        slack = ROUND_OFF * end.energy_size + self.gap * force + end.wall_change
        work = Criterion(
            "energy",
            "off by {value:.2g} J of work by contacts, at most {limit:.2g} J",
            ("",),
            end.contact_work,
            self.contact_work * end.contact_energy + slack,
            True,
            slack,
            by_contacts=True,
        )
        gained = end.energy_gain - ca.fmax(-ca.sum1(end.loss), 0)
        negligible = self.negligible * end.kinetic_energy + slack
        allowed = ca.fmin(self.energy * end.energy_error, self.growth * end.kinetic_energy)
        gain = Criterion(
            "energy",
            "off by {value:.2g} J gained, at most {limit:.2g} J",
            ("",),
            gained,
            allowed + negligible,
            True,
            negligible,
        )
        return [work, gain]


class StackedChecks:
    """The checks of a step as one vector, with the message of each row.

    Attributes
    ----------
    value, limit : SX (k,)
    quick_limit : SX (k,)
        At most the limit, and quick to compute: a value below it is below the limit as well.
    """

    def __init__(self, checks: Sequence[Criterion]) -> None:
        self._rows: list[tuple[Criterion, str]] = []
        values, limits, quick_limits = list[ca.SX](), list[ca.SX](), list[ca.SX]()
        for check in checks:
            n = check.value.numel()
            values.append(check.value)
            for rows, limit in (
                (limits, check.limit),
                (quick_limits, check.limit if check.quick_limit is None else check.quick_limit),
            ):
                rows.append(limit if limit.numel() == n else ca.repmat(limit, n, 1))
            names = list(check.names)
            self._rows += [(check, names[k]) for k in range(n)]
        columns = (ca.densify(ca.vertcat(*rows)) for rows in (values, limits, quick_limits))
        self.value, self.limit, self.quick_limit = columns

    def find_fault(self, value: Array, limit: Array) -> Fault | None:
        """Return the fault for which a step with these numbers is refused, or None.

        Of the first kind of check that fails, the row that is furthest off.
        """
        failed = np.flatnonzero(~(value <= limit))
        if failed.size == 0:
            return None
        kind = self._rows[failed[0]][0]
        same = [int(k) for k in failed if self._rows[k][0] is kind]
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = [value[k] / limit[k] for k in same]
        k = same[int(np.argmax(excess))]
        return self.describe(k, value[k], limit[k])

    @property
    def of_equations(self) -> NDArray[np.bool_]:
        """Which rows are equations, (k,): solved further, they are met."""
        return np.array([not check.unphysical for check, _ in self._rows], dtype=bool)

    def describe(self, row: int, value: float, limit: float) -> Fault:
        """Return the fault of one row."""
        check, name = self._rows[row]
        figures = check.figures.format(value=value, limit=limit)
        return Fault(check.kind.format(name=name), figures, check.unphysical, check.by_contacts)
