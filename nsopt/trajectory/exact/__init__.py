"""Exact optima through contact: the sequence of contact that steps find, its times free."""

from nsopt.trajectory.exact.exact_contacts import PLAN, ExactContacts
from nsopt.trajectory.exact.known_motion import KnownMotion
from nsopt.trajectory.exact.motion import PhasedMotion, sum_costs
from nsopt.trajectory.exact.recognize import Recognizer
from nsopt.trajectory.exact.sequence import ContactPhase

__all__ = [
    "PLAN",
    "ContactPhase",
    "ExactContacts",
    "KnownMotion",
    "PhasedMotion",
    "Recognizer",
    "sum_costs",
]
