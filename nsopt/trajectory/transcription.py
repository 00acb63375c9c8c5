"""The contract of a transcription: how a motion becomes a program with finitely many unknowns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

from nsopt.mechanics import Dynamics
from nsopt.stepping.taken import Taken
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.guesses import Course, Guess
from nsopt.trajectory.homotopy import Stage
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.parts import Array, Index, Stack


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a program ended.

    Attributes
    ----------
    x, lam_x : (size,)
        Unknowns and multipliers of their bounds.
    g, lam_g : (rows,)
    objective : float
    success : bool
        Whether the solver believes in it.
    word : str
        Its own.
    iterations : int
    seconds : float
    violation : float
        Of all rows, the largest.
    """

    x: Array
    lam_x: Array
    g: Array
    lam_g: Array
    objective: float
    success: bool
    word: str
    iterations: int
    seconds: float
    violation: float


@dataclass(frozen=True, eq=False)
class Motion:
    """What the unknowns of a program say.

    Attributes
    ----------
    t : (n + 1,) [s]
        Times of the nodes.
    nodes : Course
        The motion there.
    drive : (n + 1, nv) [N m, N]
        Forces of the drives there.
    normal_force : (n + 1, ng) [N]
        Of the contacts there.
    taken : Taken
        The steps between.
    acting : callable
        Of t [s]: forces of the drives, then inputs, (nv + number of inputs,).
    deviation : float [m, rad]
        Largest distance of an end of a step, integrated afresh under the same forces, from its
        node.
    aside : (n, ng, 3), optional [N]
        What contact forces of steps are besides those along the normals at their starts.
    """

    t: Array
    nodes: Course
    drive: Array
    normal_force: Array
    taken: Taken
    acting: Callable[[float], Array]
    deviation: float
    aside: Array | None = None


@dataclass(frozen=True, eq=False)
class Transcription(ABC):
    """A motion as unknowns and parts of a program.

    Parameters
    ----------
    dynamics : Dynamics
    horizon : Horizon
    costs : sequence of Cost
    conditions : sequence of Condition
    inputs : sequence of str
        Parameters of the mechanism that are chosen anew at every moment.

    Attributes
    ----------
    guesses_forces : bool
        Whether forces follow from a guess, so that it has a cost.

    Raises
    ------
    ValueError
        If it has no equations for the mechanism, or an input is no Parameter.
    """

    guesses_forces: ClassVar[bool] = True

    dynamics: Dynamics
    horizon: Horizon
    costs: Sequence[Cost]
    conditions: Sequence[Condition]
    inputs: Sequence[str]

    def __post_init__(self) -> None:
        names = [parameter.name for parameter in self.dynamics.parameters]
        for name in self.inputs:
            if name not in names:
                raise ValueError(
                    f"input {name!r} is no Parameter of the mechanism: one of "
                    f"{', '.join(names) or 'none'}"
                )

    @property
    @abstractmethod
    def told(self) -> tuple[str, str]:
        """Short name and full statement, for the record."""

    @property
    @abstractmethod
    def unilateral(self) -> bool:
        """Whether there is complementarity, for which a homotopy leads to the solution."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of unknowns."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return what each unknown is, (size,)."""

    @abstractmethod
    def stack(self) -> Stack:
        """Return the program."""

    @abstractmethod
    def limits(self) -> tuple[Array, Array]:
        """Return bounds of the unknowns, (size,) each."""

    @property
    def remedy(self) -> str:
        """What else to try where a solve fails; empty by default."""
        return ""

    @property
    def idle(self) -> Index:
        """Which unknowns enter nothing; none by default."""
        return np.zeros(0, dtype=np.intp)

    @abstractmethod
    def numbers(self, p: Array, stage: Stage) -> Array:
        """Return the parameters of the program from those of the mechanism."""

    @abstractmethod
    def start_from(self, guess: Guess) -> Array:
        """Return unknowns (size,) of a motion to start from."""

    @abstractmethod
    def nodes(self, x: Array) -> tuple[Array, Array, Array]:
        """Return times (n + 1,), coordinates and inputs (n + 1, .) of unknowns: linear in them."""

    @abstractmethod
    def motion(self, outcome: Outcome, p: Array) -> Motion:
        """Return what was found, from parameters p (np,) of the mechanism."""

    def given(self, p: ca.SX, u: ca.SX) -> ca.SX:
        """Return the parameters of the mechanism with inputs u in their places, SX (np,)."""
        names = [parameter.name for parameter in self.dynamics.parameters]
        places = {names.index(name): k for k, name in enumerate(self.inputs)}
        entries = [u[places[i]] if i in places else p[i] for i in range(len(names))]
        return ca.vertcat(ca.SX(0, 1), *entries)
