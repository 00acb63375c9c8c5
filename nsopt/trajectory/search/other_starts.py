"""The strategy that begins anew from other starts, where a search ended without a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsopt.arrays import Array
from nsopt.interrupt import is_interrupted
from nsopt.trajectory.guesses import Guess, Trajectory
from nsopt.trajectory.programs import choose_start
from nsopt.trajectory.search.program import StatedProgram
from nsopt.trajectory.search.strategy import FoundMotion, Search, Strategy


@dataclass(frozen=True)
class Swinging(Guess):
    """A guess that swings about its start, ever farther, to the end of another guess.

    q = q_0 + (-1)^n (q_1 - q_0) s^2 sin((n + 1/2) pi s) at the share s of the duration.
    """

    guess: Guess  # gives the start q_0 and the end q_1, which are angles and lengths
    swings: int  # n, the half swings before the one that ends at q_1

    def trajectory(
        self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        smooth = self.guess.trajectory(share, bounds, inputs)
        ends, n = self.guess.trajectory(np.array([0.0, 1.0]), bounds, inputs), smooth.v.shape[1]
        s, w, T = share[:, None], (self.swings + 0.5) * np.pi, smooth.duration
        amplitude = (-1) ** self.swings * (ends.q[1, :n] - ends.q[0, :n])
        sine, cosine = np.sin(w * s), np.cos(w * s)
        q = ends.q[0, :n] + amplitude * s**2 * sine
        v = amplitude * (2 * s * sine + s**2 * w * cosine) / T
        a = amplitude * ((2 - s**2 * w**2) * sine + 4 * s * w * cosine) / T**2
        # Columns of q from n on are internal states of elements.
        return smooth._replace(q=np.hstack([q, smooth.q[:, n:]]), v=v, a=a)


@dataclass(frozen=True)
class OtherStarts(Strategy[StatedProgram]):
    """Begins anew from guesses that swing where the search, a local one, ended without a motion."""

    why = "a weak drive must swing, and no smooth way leads there"

    # `Swinging.swings` of each start. A pendulum of 9.81 N m that its drive cannot lift (1.3, 2 and
    # 3.5 N m) is swung up from one of these, not from a smooth way up; of random perturbations of
    # that, 8 of 64 led to a motion at 2 N m.
    swings: tuple[int, ...] = (1, 4, 2)

    def applies(self, search: Search, found: FoundMotion) -> bool:
        d = found.program.transcription.dynamics
        are_angles_and_lengths = d.nq - len(d.internal_names) == d.nv
        failed = found.program.by_polynomials and not found.end.feasible and not is_interrupted()
        return failed and are_angles_and_lengths and search.guess is not None

    def solve(self, search: Search, found: FoundMotion) -> FoundMotion:
        assert search.guess is not None
        program, plan = found.program, search.plan.before(self)
        for swings in self.swings:
            if is_interrupted():
                break
            guess = Swinging(search.guess, swings)
            start = choose_start(program.transcription, program.nlp, guess)
            other, _ = replace(search, plan=plan, start=start, guess=guess).run(program)
            if other.is_good:
                return replace(other, swings=swings)
        return found
