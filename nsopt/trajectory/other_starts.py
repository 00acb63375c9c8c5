"""Other starts of a search that ended without a motion at the one it was given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nsopt.interrupt import interrupted
from nsopt.mechanics import Dynamics
from nsopt.trajectory.guesses import Guess, Trajectory
from nsopt.trajectory.resting_joints import Found
from nsopt.trajectory.transcription.base import Array

SWINGS = (1, 4, 2)
"""Half swings before the last one, of each start.

A pendulum that its drive cannot lift (1.3, 2 and 3.5 N m of 9.81) is swung up from the first ones,
not from a smooth way up; of random perturbations of that, 8 of 64 led to a motion at 2 N m.
"""


@dataclass(frozen=True)
class Swinging(Guess):
    """A guess that swings, ever farther, about where it starts before it ends where another does.

    q_0 + (q_1 - q_0) s^2 sin((n + 1/2) pi s) (-1)^n at the share s of the duration.

    Parameters
    ----------
    guess : Guess
        As placed, in coordinates that are angles and lengths.
    swings : int
        n, half swings before the last one.
    """

    guess: Guess
    swings: int

    def trajectory(
        self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        known = self.guess.trajectory(share, bounds, inputs)
        ends, n = self.guess.trajectory(np.array([0.0, 1.0]), bounds, inputs), known.v.shape[1]
        s, w, T = share[:, None], (self.swings + 0.5) * np.pi, known.duration
        way = (-1) ** self.swings * (ends.q[1, :n] - ends.q[0, :n])
        sine, cosine = np.sin(w * s), np.cos(w * s)
        q = ends.q[0, :n] + way * s**2 * sine
        v = way * (2 * s * sine + s**2 * w * cosine) / T
        a = way * ((2 - s**2 * w**2) * sine + 4 * s * w * cosine) / T**2
        return known._replace(q=np.hstack([q, known.q[:, n:]]), v=v, a=a)


def other_starts(d: Dynamics, guess: Guess) -> list[Swinging]:
    """Return other guesses; none in coordinates that are no angles and lengths."""
    lengths_and_angles = d.nq - len(d.internal_names) == d.nv
    return [Swinging(guess, n) for n in SWINGS] if lengths_and_angles else []


def search_elsewhere(
    ended: Found, starts: Sequence[Swinging], search: Callable[[Guess], Found]
) -> tuple[Found, Swinging | None]:
    """Return the first good motion from other starts, and its start; what there was if none is.

    A search that ends where conditions are violated has shown nothing: it is a local one.
    """
    spent = ended.end
    for start in starts:
        if interrupted():
            break
        found = search(start)
        spent = found.end.after(spent)
        if found.good:
            return found.having_spent(Found(found.program, spent, None)), start
    return ended.having_spent(Found(ended.program, spent, None)), None
