"""Time stepping: schemes that state one step, and the driver that chains steps."""

from nsopt.stepping.acceptance import Acceptance
from nsopt.stepping.bounds import StepBounds
from nsopt.stepping.initial import Start, consistent
from nsopt.stepping.paper import Closure, LinearisedClosure, PaperStep, TrueClosure
from nsopt.stepping.retry import RetryLadder
from nsopt.stepping.scheme import Scales, Scheme, Step, StepStart
from nsopt.stepping.simulate import simulate

__all__ = [
    "Acceptance",
    "Closure",
    "LinearisedClosure",
    "PaperStep",
    "RetryLadder",
    "Scales",
    "Scheme",
    "Start",
    "Step",
    "StepBounds",
    "StepStart",
    "TrueClosure",
    "consistent",
    "simulate",
]
