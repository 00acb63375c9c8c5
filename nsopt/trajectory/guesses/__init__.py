"""Initial guesses: motions from which an optimization starts."""

from nsopt.trajectory.guesses.base import Guess, Trajectory
from nsopt.trajectory.guesses.from_ideal import FromIdeal
from nsopt.trajectory.guesses.paths import Quintic, Straight, Through
from nsopt.trajectory.guesses.perturbed import Perturbed
from nsopt.trajectory.guesses.results import Earlier, Simulated

__all__ = [
    "Earlier",
    "FromIdeal",
    "Guess",
    "Perturbed",
    "Quintic",
    "Simulated",
    "Straight",
    "Through",
    "Trajectory",
]
