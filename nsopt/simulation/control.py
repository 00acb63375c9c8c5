"""Control of the step size where the scheme does not choose it: `StepControl`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from nsopt.simulation.acceptance import Fault

HALF = 0.5  # part of h that is tried after a step that was not solved
LEAST_CHANGE = 0.999  # factor on h of a step that is tried again, at most: it must be a shorter one

DEEPEST = 0.1
"""How far beyond a wall a step may lead without it, over the clearance: w h of 0.45, where w is the
frequency at which a contact that presses swings in its bore."""

FOLLOWED = 0.5
"""The same of a step that contacts just follow: w h = 1. Deeper ones are counted in the summary; it
is `DEEPEST` by which h is chosen."""

PLACED = 3e-4
"""Part of the kinetic energy, the error up to which an impact counts as at the end of its step."""

SHORT = 0.03
"""Part of the time from an impact to the end of its step that is left when the step is tried again:
a little, so that the impact is in the step still."""

OVERDUE = 1e-5  # part of a step that may be left after a contact changed

LATE = 1e-2
"""Part of a step after a change of contact, from which on the summary counts the step as going past
it; it is `OVERDUE` by which a step is tried again."""

EARNED, MOST = 0.5, 40.0
"""Attempts that may be spent on ending steps where contacts change: earned by each step, and saved
up for changes that follow each other closely. What rattles faster stays in longer steps. Thirty
runs of random rough chains and four-bars took 0.35 attempts a step beyond the first; by a fifth of
both 0.24, by four times both 0.54."""

FREE = 1e3
"""Factor on h where nothing limits the next step."""

MARGIN = 0.9  # the next h, over that at which contacts could just follow the step

LEAST_BEYOND = 1e-6
"""Least of the squares of h over that which contacts can follow: of no depth the factor is 900 by
it, still below `FREE`, which says that there is no limit."""

LEAST_PART = 1e-3
"""Least local error that counts, over the tolerance, against division by zero. Up to order seven h
would grow there beyond `FACTORS`, so that less of an error would change nothing."""

FACTORS = (0.2, 2.0)  # least and largest factor on h by the local error


class StepFigures(NamedTuple):
    """The figures of a solved step by which h is controlled, SX scalars."""

    h: ca.SX  # [s]
    local_error: ca.SX  # [m] displacement in the metric of the mass
    depth: ca.SX  # beyond the walls over the clearance, see `WallFigures`
    swing: ca.SX  # (w h)^2 of compliant contacts over what resolves them, see `judge_pressed`
    late: ca.SX  # [s] time after the first impact
    overdue: ca.SX  # [s] time after the first change of contact at which it should end
    unplaced: ca.SX  # [J] error of its energy
    kinetic_energy: ca.SX  # [J]
    usual: ca.SX  # [s] h, or what it was before the step was made shorter to end at a change
    credit: ca.SX  # attempts that may be spent on ending steps where contacts change
    smallest: ca.SX  # whether h is h_min

    def at_full_size(self, part: ca.SX | float, order: int) -> StepFigures:
        """Return what the figures would be in a step longer by 1 / part.

        So a rule allows a run that repeats another one, with a part of its h, that part of it
        everywhere. Depths and swings grow with h^2, local errors with h^(order + 1), and by how
        much an impact is off at the end of its step with h.
        """
        return self._replace(
            local_error=self.local_error / part ** (order + 1),
            depth=self.depth / part**2,
            swing=self.swing / part**2,
            unplaced=self.unplaced / part,
        )


class StepControl(ABC):
    """The rule by which h is chosen within its bounds, as expressions, which chains compile.

    A new rule is one frozen dataclass. Under every rule h is never above h_max nor below h_min but
    at the end of the run, a step that did not solve is tried again at half of h, one that the rule
    refuses at its factor, and the last steps share the time that is left.

    Attributes
    ----------
    description : str
        The reason of h on record when no bound decided it.
    """

    description: str

    @property
    def ignores_contacts(self) -> bool:
        """Whether steps do not follow contacts though the control has `FollowContacts` for that."""
        return False

    @abstractmethod
    def keeps(self, step: StepFigures) -> ca.SX:
        """Return whether a step is good enough above h_min."""

    @abstractmethod
    def factor(self, step: StepFigures, order: int) -> ca.SX:
        """Return the factor on h after a step, kept or not.

        Parameters
        ----------
        step : StepFigures
        order : int
            Of the scheme.
        """


@dataclass(frozen=True)
class FollowContacts:
    """Steps that contacts in bores can follow, and that end where contacts change.

    A contact that presses with the relative acceleration a in a bore of clearance c swings about
    the line of its force at w = sqrt(a / c); without its wall a step would lead
    (w h)^2 / 2 clearances beyond it.

    Where a contact closes that was open, a slip stops or turns round, or static friction gives way,
    other forces act from then on, and the rest of the step would be off by an error of first order:
    the step is tried again, ending at that time. Such attempts are limited, see `EARNED`. A contact
    that leaves its wall and strikes it again within one step comes to rest instead, unless
    directions of walls and joints turn meanwhile (``placed``).

    Parameters
    ----------
    depth : float
        How far beyond a wall a step may lead without it, over the clearance.
    placed : float
        Error of the energy of an impact that is placed at the end of its step, over the kinetic
        energy; with a larger one the step is tried again so that it ends at the impact.
    overdue : float
        Part of the usual h that a step may go on after a contact changed.
    swing : float
        Of compliant contacts (w h)^2 over that of a step of a thirtieth of an impact, pi / w. Where
        depths do not change, as of what rests, they ask for nothing.
    """

    depth: float = DEEPEST
    placed: float = PLACED
    overdue: float = OVERDUE
    swing: float = 1.0

    def __post_init__(self) -> None:
        for name, limit in vars(self).items():
            if not 0 < limit < np.inf:
                raise ValueError(f"{name} of FollowContacts must be positive, got {limit}")

    def keeps(self, step: StepFigures) -> ca.SX:
        """Return whether contacts can follow a step, and where they change is its end."""
        follows = self._compare(step) <= 1
        return ca.logic_and(follows, ca.logic_not(self.goes_beyond_change(step)))

    def factor(self, step: StepFigures) -> ca.SX:
        """Return the largest factor on h with which contacts can follow the next step."""
        beyond = self._compare(step)
        follow = MARGIN / ca.sqrt(ca.fmax(beyond, LEAST_BEYOND))
        # In loops an impact may seem to be just before the end, however short the step. The time at
        # which the contact closed says more of it, but is not exact: h is halved at most.
        early = ca.fmax(step.late, ca.fmin(step.overdue, HALF * step.h))
        part = ca.if_else(self._is_overdue(step), step.overdue, early) / step.h
        # A little later, so that the change is in the step; less so the closer it is already.
        within = ca.fmax(SHORT * part**2, self.overdue / 3 * step.usual / step.h)
        change = 1 - part + ca.fmin(within, SHORT * part)
        # After a change other forces act: how far this step led beyond walls says nothing of them.
        is_new = ca.logic_and(ca.fmax(step.late, step.overdue) > 0, beyond <= 1)
        return ca.if_else(self.goes_beyond_change(step), change, ca.if_else(is_new, FREE, follow))

    def goes_beyond_change(self, step: StepFigures) -> ca.SX:
        """Return whether a step is to be tried again so that it ends where a contact changes."""
        is_off = step.unplaced > self.placed * step.kinetic_energy
        # Only where it is known when the impact was can a step end there.
        is_early = ca.logic_and(is_off, step.late > 0)
        goes_on = ca.logic_or(is_early, self._is_overdue(step))
        return ca.logic_and(goes_on, ca.logic_not(step.smallest))

    def _compare(self, step: StepFigures) -> ca.SX:
        """Return the square of h over that which contacts can follow."""
        return ca.fmax(step.depth / self.depth, step.swing / self.swing)

    def _is_overdue(self, step: StepFigures) -> ca.SX:
        """Return whether a step is overdue, and attempts at ending it earlier are left."""
        return ca.logic_and(step.overdue > self.overdue * step.usual, step.credit >= 1)


@dataclass(frozen=True)
class LargestStep(StepControl):
    """Steps of h_max; after a step that had to be smaller, longer by a factor each time.

    Parameters
    ----------
    growth : float
    contacts : FollowContacts or None
        By which steps are shorter where contacts need it; None leaves them as they are.
    """

    growth: float = 1.25
    contacts: FollowContacts | None = FollowContacts()
    description = "growing after a refused step"

    def __post_init__(self) -> None:
        if not 1 < self.growth < np.inf:
            raise ValueError(f"growth must be above 1, got {self.growth}")

    @property
    def ignores_contacts(self) -> bool:
        return self.contacts is None

    def keeps(self, step: StepFigures) -> ca.SX:
        return ca.SX(1) if self.contacts is None else self.contacts.keeps(step)

    def factor(self, step: StepFigures, order: int) -> ca.SX:
        del order
        if self.contacts is None:
            return ca.SX(self.growth)
        largest = self.contacts.factor(step)
        return ca.if_else(largest < FREE, ca.fmin(self.growth, largest), FREE)


@dataclass(frozen=True)
class ErrorControl(StepControl):
    """Steps whose estimated local error stays below a tolerance.

    The estimate is embedded in the scheme: how unevenly the two halves of a step are loaded, as a
    displacement in the metric of the mass. It falls with h^3, for schemes of first order with h^2.

    Parameters
    ----------
    tolerance : float [m]
        Largest local error of a step; steps of h_min are kept whatever their error.
    safety : float
    contacts : FollowContacts or None
        By which steps are shorter where contacts need it; None leaves them as they are.
    """

    tolerance: float
    safety: float = 0.9
    contacts: FollowContacts | None = FollowContacts()
    description = "error tolerance"

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < np.inf or not 0 < self.safety <= 1:
            raise ValueError(
                f"tolerance must be a positive length in metres and safety in (0, 1], got {self}"
            )

    @property
    def ignores_contacts(self) -> bool:
        return self.contacts is None

    def keeps(self, step: StepFigures) -> ca.SX:
        small = step.local_error <= self.tolerance
        return small if self.contacts is None else ca.logic_and(small, self.contacts.keeps(step))

    def factor(self, step: StepFigures, order: int) -> ca.SX:
        ratio = self.tolerance / ca.fmax(step.local_error, LEAST_PART * self.tolerance)
        least, largest = FACTORS
        factor = ca.fmin(ca.fmax(self.safety * ratio ** (1 / (order + 1)), least), largest)
        return factor if self.contacts is None else ca.fmin(factor, self.contacts.factor(step))


def explain_refusal(
    local_error: float, depth: float, swing: float, late: float, overdue: float, unplaced: float
) -> Fault:
    """Return the fault of a step that a control refused."""
    return Fault(
        "the step control:",
        f"off by {local_error:.2g} m, {depth:.2g} clearances beyond walls, "
        f"{swing:.2g} times what resolves compliant contacts, an impact {late:.2g} s before the "
        f"end and {unplaced:.2g} J off, {overdue:.2g} s after a contact changed",
        unphysical=True,
    )
