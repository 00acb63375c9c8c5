"""What a search for a motion has come to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from nsopt.mpcc import Solution
from nsopt.result import Result
from nsopt.trajectory.search.program import SearchedProgram, StatedProgram
from nsopt.trajectory.search.tightening import KeptMotion
from nsopt.trajectory.transcription.base import Array, TranscribedMotion

P = TypeVar("P", bound=SearchedProgram)


class ExactMotion(ABC):
    """A motion through contact with free times of its changes of contact; see `ExactContacts`."""

    @property
    @abstractmethod
    def motion(self) -> TranscribedMotion:
        """The motion."""

    @abstractmethod
    def record(self, motion: TranscribedMotion, p: Array, attrs: Mapping[str, Any]) -> Result:
        """Return its result; its attributes replace those of the optimum in steps, ``attrs``."""


@dataclass(frozen=True, eq=False)
class Found(Generic[P]):
    """What a search has come to."""

    program: P
    solution: Solution | None = None  # where the last solve ended, be it a solution or not
    kept: KeptMotion | None = None  # how far it exceeds limits between nodes, if that is known
    swings: int | None = None  # of the start that led here, see `Swinging`; None if it is the guess
    remark: str = ""  # found out by a search that failed; told before the reason why
    exact: ExactMotion | None = None  # to be recorded in place of the solution
    not_exact: str = ""  # why there is none, where it was tried

    @property
    def end(self) -> Solution:
        """``solution``; refused if nothing was solved."""
        if self.solution is None:
            raise ValueError("no strategy of the plan solves the program: give it FromGuess()")
        return self.solution

    @property
    def is_new(self) -> bool:
        """Whether nothing was solved yet."""
        return self.solution is None

    @property
    def is_solved(self) -> bool:
        """Whether there is a solution."""
        return self.solution is not None and self.solution.ok

    @property
    def is_good(self) -> bool:
        """Whether it is a solution that keeps its limits between nodes."""
        return self.is_solved and (self.kept is None or not self.kept.fault)


FoundMotion = Found[StatedProgram]
"""What the search for one motion has come to."""
