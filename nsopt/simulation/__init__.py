"""Simulation: steps chained in time, with step control, acceptance, retries and a record.

From the outside in::

    simulate      checks the arguments; adds steps to the record until the end
    driver        the next accepted steps: by the chain, or by steppers where it is stuck
    chain         attempt after attempt in one call of compiled code
    stepper       one step by Ipopt or Sqp, with every `retry`; or by the `fallback` scheme
    program       the equations of one step, and the numbers by which `acceptance` judges its end
    control       h where the scheme does not choose it, within its `bounds`
    batch         many states at once, by the attempts of a chain
    record        accepted steps, and the Result they make
    check         the same run in other steps, which tells its errors
    checkpoint    files from which a run that was ended goes on
"""

from nsopt.simulation.acceptance import Acceptance
from nsopt.simulation.batch import Batch, BatchStep, batch_step
from nsopt.simulation.bounds import StepBounds, until_end
from nsopt.simulation.chain import Compiled
from nsopt.simulation.chain_state import ChainParameters, ChainStatus
from nsopt.simulation.check import (
    Check,
    estimate_in_halves,
    find_gyration_radii,
    measure_distance,
    measure_size,
)
from nsopt.simulation.checkpoint import Checkpoint, CheckpointError
from nsopt.simulation.control import (
    ErrorControl,
    FollowContacts,
    LargestStep,
    StepControl,
    StepFigures,
)
from nsopt.simulation.entry import simulate
from nsopt.simulation.program import StepProgram
from nsopt.simulation.record.accepted_steps import AcceptedSteps, objects, significant_impulses
from nsopt.simulation.record.evaluated_steps import evaluate_at_times, losses_of_forces
from nsopt.simulation.record.history import History
from nsopt.simulation.run import check_run
from nsopt.simulation.step_kernel import StepKernel

__all__ = [
    "Acceptance",
    "AcceptedSteps",
    "Batch",
    "BatchStep",
    "ChainParameters",
    "ChainStatus",
    "Check",
    "Checkpoint",
    "CheckpointError",
    "Compiled",
    "ErrorControl",
    "FollowContacts",
    "History",
    "LargestStep",
    "StepBounds",
    "StepControl",
    "StepFigures",
    "StepKernel",
    "StepProgram",
    "batch_step",
    "check_run",
    "estimate_in_halves",
    "evaluate_at_times",
    "find_gyration_radii",
    "losses_of_forces",
    "measure_distance",
    "measure_size",
    "objects",
    "significant_impulses",
    "simulate",
    "until_end",
]
