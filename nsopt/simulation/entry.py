"""The motion of a mechanism, step by step: `simulate` [NLP-clearance 2024, Algorithm 1]."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping
from dataclasses import asdict
from functools import partial
from time import perf_counter, thread_time
from typing import Any

from numpy.typing import ArrayLike

from nsopt.checks import check_text, whole
from nsopt.interrupt import guard, interruptible
from nsopt.mechanics import Dynamics, Start, redundancy_note
from nsopt.mpcc import Solver
from nsopt.result import Result
from nsopt.schemes import Scheme
from nsopt.simulation.acceptance import Acceptance
from nsopt.simulation.advance import advance_to_end
from nsopt.simulation.bounds import StepBounds
from nsopt.simulation.chain import Compiled
from nsopt.simulation.check import Accuracy, Check, CheckedRun, explain_missing
from nsopt.simulation.checkpoint import Checkpoint, open_checkpoint
from nsopt.simulation.control import StepControl
from nsopt.simulation.driver import Driver
from nsopt.simulation.limits import warn_of_limits
from nsopt.simulation.method import Method
from nsopt.simulation.record.history import History
from nsopt.simulation.record.output_times import check_output_times
from nsopt.simulation.run import Run
from nsopt.stored import check_wanted

IN_HALVES = Check()
"""The check of a run by default: where that is quick, in steps of a half and a quarter."""

IN_DOUBLES = Check(seconds=0)
"""That of the runs by which `accuracy` is met: in steps of twice and four times the size, so that a
check takes less than its run."""

TINY = 1e-12  # time [s] that counts as none, against division by zero


def simulate(
    dynamics: Dynamics,
    start: Start | None = None,
    duration: float = 1.0,
    *,
    steps: StepBounds | None = None,
    accuracy: float | None = None,
    scheme: Scheme | None = None,
    solver: Solver | Compiled | None = None,
    control: StepControl | None = None,
    parameters: Mapping[str, float] | None = None,
    acceptance: Acceptance | None = None,
    store_every: int = 1,
    times: ArrayLike | None = None,
    variables: Collection[str] | None = None,
    checkpoint: Checkpoint | None = None,
    check: Check | None = IN_HALVES,
    title: str | None = None,
    progress: bool = True,
) -> Result:
    """Simulate the motion of a mechanism.

    Parameters
    ----------
    dynamics : Dynamics
        From `assemble`.
    start : Start, optional
        The start stated by the bodies by default.
    duration : float [s]
        The last step ends exactly there.
    steps : StepBounds
        In which each step chooses its size. With an accuracy those to begin with; a hundred steps
        by default.
    accuracy : float, optional
        In place of bounds: the error that the motion and the energy may have, over their sizes.
        The run is taken in shorter and shorter steps until it is met, see `Accuracy`;
        ``h_min``, ``h_max``, ``h_part`` in the attributes of the result are those of its
        `StepBounds`, by which it can be repeated.
    scheme : Scheme
        `Variational` by default.
    solver : Solver or Compiled
        The first choice for every step; others take over where it fails (`RetryPolicy`). By default
        `Compiled`, for a scheme that chooses h itself `Solver`.
    control : StepControl
        Of h where the scheme does not choose it: `LargestStep` by default.
    parameters : mapping of name to number
        Other values for Parameters of the mechanism.
    acceptance : Acceptance
        The limits that each step must meet.
    store_every : int
        Keep only every that many steps, and the last. Losses, work and effort are summed up
        between; impulses and forces are those of the kept steps alone.
    times : (n,) [s], optional
        Times at which states are kept instead of those of steps: interpolated, coordinates to
        fourth order, velocities to third. Losses, work and effort are those since the time before;
        impulses and forces those of the step that the time is in.
    variables : collection of str, optional
        Names of the variables to record, all by default; those of time alone (h, energies,
        solver) are always there. What needs others, such as some pictures, says so.
    checkpoint : Checkpoint
        From which a run that was killed can go on, and whether to go on from it; none by default.
    check : Check or None
        Repetitions in other steps, which tell the errors of the run (`Result.error`); with None
        they are unknown.
    title : str
        Names the run in summaries and pictures; by default the name of the mechanism, if any.
    progress : bool
        Whether to show on standard error which rows of the ideal joints are redundant, and a
        progress bar.

    Returns
    -------
    Result
        Also where the run ends early, by Ctrl-C or SIGTERM, by a step that nothing solved or by a
        checkpoint that could not be written: then ``completed`` is False and
        ``data.attrs["stop_reason"]`` says why, where and what was tried.

    Warns
    -----
    UserWarning
        Before the first step, of what it cannot follow, with the remedy: h_min far too long for a
        clearance or a spring, a clearance near the tolerance of gaps, a step too large for Sqp.

    Raises
    ------
    TypeError
        An argument of the wrong kind.
    ValueError
        Before anything is solved: a duration, parameter or start that is not legal, a checkpoint
        to resume that is damaged or of another run.
    OSError
        Before anything is solved: no checkpoint to resume, or none can be written.
    KeyboardInterrupt
        Where Ctrl-C or SIGTERM comes before the first step; and instead of the run that would
        follow an interrupted one in the same script, or in the same cell of a notebook. So a loop
        of runs ends after what it does with the last of them, such as to save it. To go on all the
        same, call `nsopt.interrupt.forget`.

    Examples
    --------
    >>> for clearance in (1e-4, 2e-4, 5e-4):
    ...     result = simulate(dynamics, steps=steps, parameters={"clearance": clearance})
    ...     result.save(f"{clearance}.nc")  # of the run that Ctrl-C ends too
    ... # doctest: +SKIP
    """
    if accuracy is not None:
        if checkpoint is not None:
            raise ValueError("an accuracy is met by many runs: give either that or a checkpoint")
        goal = Accuracy(accuracy)
        again = partial(
            simulate,
            dynamics,
            start,
            duration,
            scheme=scheme,
            solver=solver,
            control=control,
            parameters=parameters,
            acceptance=acceptance,
            store_every=store_every,
            times=times,
            variables=variables,
            check=IN_DOUBLES,
            title=title,
            progress=progress,
        )
        with guard():
            return goal.reach(again, goal.first_bounds(duration) if steps is None else steps)
    if steps is None:
        raise TypeError("give either steps=StepBounds(h_min, h_max) or accuracy=1e-3")
    whole("store_every", store_every)
    title = dynamics.mechanism.name if title is None else title
    check_text("title", title)
    if check is not None and not isinstance(check, Check):
        raise TypeError(f"check must be Check() or None, got {check!r}")
    method = Method.of(scheme, solver, control, acceptance)
    restored_by = repr(method.scheme) if method.scheme.gains else ""
    run = Run.check(dynamics, start, duration, steps, parameters, restored_by)
    method.scheme.check(dynamics, run.p)
    warn_of_limits(dynamics, run, method)
    wanted = check_wanted(variables)
    kept_at = check_output_times(times, run.start.t, run.t_end)
    if kept_at is not None and store_every > 1:
        raise ValueError("give either times or store_every")
    if progress:
        _tell_of_redundancy(dynamics, run)
    kept = store_every if kept_at is None else kept_at
    writer, saved = open_checkpoint(checkpoint, dynamics, run, method, kept)
    with guard():
        begin = perf_counter()
        with interruptible():  # nothing is computed yet
            driver = Driver(dynamics, run, method)
        gains = method.scheme.gains
        history = History(dynamics, run.start, run.p, store_every, gains, kept_at)
        if saved is not None:
            driver.restore(saved.driver)
            history.restore(saved.kept, saved.pending, saved.count)
        setup_seconds = perf_counter() - begin
        begin, resumed_at = thread_time(), driver.start.t
        stop = advance_to_end(driver, history, writer, progress)
        # Not of the clock: code may be made meanwhile, and other programs run. Without what the
        # first steps took before there was machine code: repetitions have it from the beginning.
        seconds, begin = thread_time() - begin - driver.warmup_time, perf_counter()
        result = history.result(
            {
                "title": title,
                **_method_attributes(method, dynamics),
                "h_min": steps.h_min,
                "h_max": steps.h_max,
                "h_part": steps.part,
                "duration": duration,
                "completed": int(not stop.reason),
                "stop_reason": stop.reason,
                "interrupted": int(stop.interrupted),
                "no_step": int(stop.no_step),
                "steps_below_h_min": driver.counts.below_h_min,
                "steps_by_other_schemes": driver.counts.by_other_schemes,
                "time_by_other_schemes": driver.counts.time_by_other_schemes,
                "steps_by_other_laws": driver.counts.by_other_laws,
                "steps_unfollowed": driver.counts.unfollowed,
                "unplaced_energy": driver.counts.unplaced,
                "time_past_changes": driver.counts.time_past_changes,
                "compile_time": driver.compile_time,
                "checkpoint": writer.written_to if writer else "",
            },
            wanted=wanted,
        )
        if check is None:
            return Result(explain_missing(result.data, "not asked for"))
        # Of a run that went on from a checkpoint the part before took as long a step.
        seconds *= (driver.start.t - run.start.t) / max(driver.start.t - resumed_at, TINY)
        recorded = perf_counter() - begin
        repeated = CheckedRun(dynamics, run, method, history, seconds, setup_seconds, recorded)
        return _measure_errors(check, repeated, result, progress)


def _measure_errors(check: Check, of: CheckedRun, result: Result, progress: bool) -> Result:
    """Return a result with its errors; one that was interrupted ends without."""
    if result.interrupted:
        return Result(explain_missing(result.data, "the run was interrupted"))
    try:
        return Result(check.measure(of, result.data, progress))
    except KeyboardInterrupt:
        return Result(explain_missing(result.data, "its repetition was interrupted"))
    except Exception as error:  # what tells its error must not lose the run
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return Result(explain_missing(result.data, f"its repetition failed, {reason}"))


def _tell_of_redundancy(dynamics: Dynamics, run: Run) -> None:
    if note := redundancy_note(dynamics, run.start.t, run.start.q, run.p):
        print(f"note: {note}", file=sys.stderr)


def _method_attributes(method: Method, dynamics: Dynamics) -> dict[str, Any]:
    """Return the attributes of a result that describe the method of its steps."""
    control, scheme = method.own_control, method.scheme
    return {
        "scheme": repr(scheme),
        "acceptance": json.dumps(asdict(method.acceptance)),
        "scheme_name": type(scheme).__name__,
        "scheme_order": scheme.order,
        "scheme_creeps": int(scheme.creeps),
        "forces_at_end": int(scheme.forces_at_end),
        "allows_penetration": int(scheme.allows_penetration),
        "solver": repr(method.solver),
        "solver_name": method.solver_name(dynamics),
        "step_control": "" if control is None else repr(control),
        "ignores_contacts": int(control is not None and control.ignores_contacts),
    }
