"""The driver: steps chained into a motion [NLP-clearance 2024, Algorithm 1]."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Solver
from nsopt.result import Result
from nsopt.stepping.acceptance import Acceptance
from nsopt.stepping.bounds import StepBounds
from nsopt.stepping.chain import Compiled
from nsopt.stepping.checkpoint import (
    Checkpoint,
    CheckpointError,
    Keeper,
    Saved,
    load,
    made_from,
)
from nsopt.stepping.control import LargestStep, StepControl
from nsopt.stepping.driver import Driver
from nsopt.stepping.history import History
from nsopt.stepping.initial import Run, Start, check_start, warn_of_readings
from nsopt.stepping.interrupt import deferred_interrupt
from nsopt.stepping.paper import PaperStep
from nsopt.stepping.scheme import Scheme
from nsopt.stepping.stepper import StepError
from nsopt.stepping.taken import Taken


def check_run(dynamics: Dynamics, duration: float, steps: StepBounds) -> None:
    """Refuse what cannot be run.

    Raises
    ------
    TypeError
        If ``dynamics`` is not what `assemble` returns, or ``steps`` are no StepBounds.
    ValueError
        If the duration is not a positive number, or nothing can move.
    """
    for what, value, kind in (("dynamics", dynamics, Dynamics), ("steps", steps, StepBounds)):
        if not isinstance(value, kind):
            hint = "use assemble(mechanism, elements)" if kind is Dynamics else "StepBounds(...)"
            raise TypeError(f"{what} must be {kind.__name__}, got {type(value).__name__}: {hint}")
    if not isinstance(duration, Real) or not 0 < float(duration) < np.inf:
        raise ValueError(f"duration must be a positive number of seconds, got {duration!r}")
    if dynamics.nv == 0:
        raise ValueError("nothing moves: every joint of the mechanism is Fixed")


EXAMPLES = {
    "dynamics": "assemble(mechanism)",
    "steps": "StepBounds(1e-4, 1e-3)",
    "scheme": "Variational()",
    "solver": "Compiled()",
    "control": "ErrorControl(1e-6)",
    "acceptance": "Acceptance()",
}


def simulate(
    dynamics: Dynamics,
    start: Start | None = None,
    duration: float = 1.0,
    *,
    steps: StepBounds,
    scheme: Scheme | None = None,
    solver: Solver | Compiled | None = None,
    control: StepControl | None = None,
    parameters: Mapping[str, float] | None = None,
    acceptance: Acceptance | None = None,
    store_every: int = 1,
    checkpoint: Checkpoint | None = None,
    resume: str | Path | None = None,
    title: str = "mechanism",
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
        In which each step chooses its size.
    scheme : Scheme
        `PaperStep` by default.
    solver : Solver or Compiled
        The first choice for every step; others take over where it fails (`RetryLadder`).
    control : StepControl
        What decides h where the scheme does not: `LargestStep` by default.
    parameters : mapping of name to number
        Other values for Parameters of the mechanism.
    acceptance : Acceptance
        What each step must meet.
    store_every : int
        Keep only every that many steps, and the last. Losses, work and effort are summed up
        between; impulses and forces are those of the kept steps alone.
    checkpoint : Checkpoint
        Where and how often to keep what a run that was killed needs to go on; nowhere by default.
        It stays there after the end, until its ``remove()``.
    resume : path
        Go on from the checkpoint there. All else but ``checkpoint``, ``title`` and ``progress``
        must be as it was, the duration too: the last steps of a run share what is left, and
        scales are taken over all of it. To go beyond the end of a run start another one from its
        last state, by `consistent` where ideal joints are held at the velocity of the step's start
        (`PaperStep`, `MoreauJean`).
    title : str
        Names the run in summaries and pictures.
    progress : bool
        Whether to show a progress bar on standard error.

    Returns
    -------
    Result
        Also where the run ends early, by Ctrl-C, by a step that nothing solved or by a checkpoint
        that could not be written: then ``completed`` is False and ``data.attrs["stop_reason"]``
        says why, where and what was tried.

    Raises
    ------
    TypeError
        An argument of the wrong kind.
    ValueError
        Before anything is solved: a duration, parameter or start that is not legal, a checkpoint
        to resume that is damaged or of another run.
    OSError
        Before anything is solved: no checkpoint to resume, or none can be written.
    """
    if store_every < 1:
        raise ValueError(f"store_every must be 1 or more, got {store_every}")
    scheme, solver = scheme or PaperStep(), solver or Solver()
    control, acceptance = control or LargestStep(), acceptance or Acceptance()
    for name, value, kind in (
        ("dynamics", dynamics, Dynamics),
        ("steps", steps, StepBounds),
        ("scheme", scheme, Scheme),
        ("solver", solver, Solver | Compiled),
        ("control", control, StepControl),
        ("acceptance", acceptance, Acceptance),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be an object such as {EXAMPLES[name]}, got {value!r}")
    check_run(dynamics, duration, steps)
    p = dynamics.values(parameters)
    start = start or Start.stated(dynamics, parameters)
    check_start(dynamics, start, p)
    warn_of_readings(dynamics, start, p)
    scheme.check(dynamics, p)
    scheme.check_rubbing(dynamics)
    run = Run(start, p, start.t + duration, steps)
    options = {
        "scheme": scheme,
        "solver": solver,
        "control": "none" if scheme.chooses_h else control,
        "acceptance": acceptance,
        "store_every": store_every,
    }
    keeper, saved = _kept(checkpoint, resume, lambda: made_from(dynamics, run, options))
    driver = Driver(dynamics, run, scheme, solver, control, acceptance)
    history = History(dynamics, start, p, store_every)
    if saved is not None:
        driver.go_on(saved.reached)
        history.go_on(saved.kept, saved.waiting, saved.count)
    stop_reason = _run(driver, history, keeper, progress)
    return history.result(
        {
            "title": title,
            "scheme": repr(scheme),
            "acceptance": json.dumps(asdict(acceptance)),
            "scheme_name": type(scheme).__name__,
            "solver": repr(solver),
            "solver_name": driver.solver_name,
            "step_control": "" if scheme.chooses_h else repr(control),
            "h_min": steps.h_min,
            "h_max": steps.h_max,
            "duration": duration,
            "completed": int(not stop_reason),
            "stop_reason": stop_reason,
            "steps_below_h_min": driver.below_h_min,
            "compile_time": driver.compile_time,
            "checkpoint": keeper.place if keeper else "",
        }
    )


def _kept(
    checkpoint: Checkpoint | None,
    resume: str | Path | None,
    told: Callable[[], dict[str, str]],
) -> tuple[Keeper | None, Saved | None]:
    """Return what writes the checkpoints of a run, and from what it goes on."""
    if checkpoint is None and resume is None:
        return None, None
    made = told()
    saved = None if resume is None else load(resume, made)
    if checkpoint is None:
        return None, saved
    here = resume is not None and checkpoint.folder.resolve() == Path(resume).resolve()
    return Keeper(checkpoint, made, saved if here else None), saved


def _run(driver: Driver, history: History, keeper: Keeper | None, progress: bool) -> str:
    """Add steps to ``history`` to the end; return why it ended early, or nothing."""
    begin, before = driver.run.start.t, history.count
    bar: tqdm[Any]
    with deferred_interrupt() as interrupted, _bar(driver, progress) as bar:
        try:
            while not driver.done:
                taken = driver.advance()
                history.add(taken)
                _show(bar, taken, driver.now.t - bar.n - begin, history.count - before)
                if driver.done:
                    break
                if interrupted():
                    return _stopped(driver, history, keeper)
                if keeper is not None:
                    keeper.offer(history, driver)
        except KeyboardInterrupt:
            return _where("interrupted", driver)
        except CheckpointError as error:
            return f"{_where('stopped', driver)}: {error}"
        except StepError as error:
            return str(error)
    return ""


def _stopped(driver: Driver, history: History, keeper: Keeper | None) -> str:
    """Write the last checkpoint of a run that is interrupted; return what happened."""
    told = _where("interrupted", driver)
    if keeper is not None:
        try:
            keeper.write(history, driver)
        except CheckpointError as error:
            return f"{told}; {error}"
    return told


def _where(what: str, driver: Driver) -> str:
    return f"{what} at t = {driver.now.t:.9g} s"


def _bar(driver: Driver, progress: bool) -> tqdm[Any]:
    begin = driver.run.start.t
    return tqdm(
        total=driver.run.t_end - begin,
        initial=driver.now.t - begin,
        unit="s",
        disable=not progress,
        mininterval=0.2,
        bar_format="{l_bar}{bar}| {n:.4f}/{total:g} s [{elapsed}<{remaining}{postfix}]",
    )


def _show(bar: tqdm[Any], taken: Taken, advance: float, count: int) -> None:
    if not len(taken):
        return
    rate = count / max(bar.format_dict["elapsed"], 1e-9)
    bar.set_postfix_str(f"h={taken.h[-1]:.2e} s {rate:.0f} steps/s", refresh=False)
    bar.update(advance)
