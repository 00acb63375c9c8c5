"""Time stepping: schemes that state one step, and the driver that chains steps."""

from nsopt.stepping.acceptance import Acceptance
from nsopt.stepping.bounds import StepBounds
from nsopt.stepping.chain import Compiled
from nsopt.stepping.checkpoint import Checkpoint, CheckpointError
from nsopt.stepping.composition import Composition
from nsopt.stepping.contact_aligned import ContactAligned
from nsopt.stepping.control import ErrorControl, LargestStep, StepControl
from nsopt.stepping.impact import Impact, NewtonImpact, PoissonImpact
from nsopt.stepping.initial import Start, consistent
from nsopt.stepping.interrupt import deferred_interrupt
from nsopt.stepping.moreau_jean import MoreauJean
from nsopt.stepping.paper import Closure, LinearisedClosure, PaperStep, TrueClosure
from nsopt.stepping.scheme import Scales, Scheme, Step, StepStart
from nsopt.stepping.simulate import check_run, simulate
from nsopt.stepping.variational import Variational

__all__ = [
    "Acceptance",
    "Checkpoint",
    "CheckpointError",
    "Closure",
    "Compiled",
    "Composition",
    "ContactAligned",
    "ErrorControl",
    "Impact",
    "LargestStep",
    "LinearisedClosure",
    "MoreauJean",
    "NewtonImpact",
    "PaperStep",
    "PoissonImpact",
    "Scales",
    "Scheme",
    "Start",
    "Step",
    "StepBounds",
    "StepControl",
    "StepStart",
    "TrueClosure",
    "Variational",
    "check_run",
    "consistent",
    "deferred_interrupt",
    "simulate",
]
