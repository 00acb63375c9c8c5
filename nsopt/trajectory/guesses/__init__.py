"""Where an optimization starts: a motion, made from little."""

from nsopt.trajectory.guesses.base import Course, Guess
from nsopt.trajectory.guesses.found import Earlier, Simulated
from nsopt.trajectory.guesses.paths import Quintic, Straight, Through
from nsopt.trajectory.guesses.perturbed import Perturbed

__all__ = ["Course", "Earlier", "Guess", "Perturbed", "Quintic", "Simulated", "Straight", "Through"]
