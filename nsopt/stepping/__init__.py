"""Time stepping: schemes that state one step, and the driver that chains steps."""

from nsopt.stepping.acceptance import Acceptance
from nsopt.stepping.bounds import StepBounds
from nsopt.stepping.initial import Start, consistent
from nsopt.stepping.interrupt import deferred_interrupt
from nsopt.stepping.paper import Closure, LinearisedClosure, PaperStep, TrueClosure
from nsopt.stepping.scheme import Scales, Scheme, Step, StepStart
from nsopt.stepping.simulate import check_run, simulate

__all__ = [
    "Acceptance",
    "Closure",
    "LinearisedClosure",
    "PaperStep",
    "Scales",
    "Scheme",
    "Start",
    "Step",
    "StepBounds",
    "StepStart",
    "TrueClosure",
    "check_run",
    "consistent",
    "deferred_interrupt",
    "simulate",
]
