"""Exact optima through contact: the sequence of contact that steps find, its times free."""

from nsopt.trajectory.exact.exact_contacts import EXACT_CONTACTS, ExactContacts
from nsopt.trajectory.exact.motion import PhasedMotion
from nsopt.trajectory.exact.recognize import Recognizer
from nsopt.trajectory.exact.sequence import ContactPhase

__all__ = ["EXACT_CONTACTS", "ContactPhase", "ExactContacts", "PhasedMotion", "Recognizer"]
