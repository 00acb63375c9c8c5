"""What a search for a motion has come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from nsopt.mpcc import Solution
from nsopt.trajectory.search.program import SearchedProgram, StatedProgram
from nsopt.trajectory.search.tightening import KeptMotion

P = TypeVar("P", bound=SearchedProgram)


@dataclass(frozen=True, eq=False)
class Found(Generic[P]):
    """What a search has come to.

    Attributes
    ----------
    program : SearchedProgram
    solution : Solution or None
        None as long as nothing was solved.
    kept : KeptMotion or None
        What is known of its limits between nodes.
    swings : int or None
        Of the start that led here, if it is not the guess: see `Swinging`.
    remark : str
        What a failed search has found out, before the reason why it failed.
    """

    program: P
    solution: Solution | None = None
    kept: KeptMotion | None = None
    swings: int | None = None
    remark: str = ""

    @property
    def end(self) -> Solution:
        """The solution.

        Raises
        ------
        ValueError
            If nothing was solved.
        """
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


Motion = Found[StatedProgram]
"""What the search for one motion has come to."""
