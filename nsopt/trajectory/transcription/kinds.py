"""A transcription as one of its two kinds, where what only that one has is needed."""

from __future__ import annotations

from nsopt.trajectory.transcription.base import Transcription
from nsopt.trajectory.transcription.collocation import Collocation
from nsopt.trajectory.transcription.stepped import Stepped


def as_polynomials(x: Transcription) -> Collocation | None:
    """Return x if it is a motion by polynomials, else None."""
    return x if isinstance(x, Collocation) else None


def as_steps(x: Transcription) -> Stepped | None:
    """Return x if it is a motion in the steps of a scheme, else None."""
    return x if isinstance(x, Stepped) else None


def is_relaxed_in_space(transcription: Transcription) -> bool:
    """Return whether friction in space is relaxed: then no pairs state whether a contact slips."""
    x = as_steps(transcription)
    return x is not None and x.inner.has_discs
