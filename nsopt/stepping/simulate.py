"""The driver: steps chained into a motion [NLP-clearance 2024, Algorithm 1]."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from numbers import Real
from typing import Any

import numpy as np
from tqdm import tqdm

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Solver
from nsopt.result import Result
from nsopt.stepping.acceptance import Acceptance
from nsopt.stepping.bounds import StepBounds
from nsopt.stepping.chain import Compiled
from nsopt.stepping.control import LargestStep, StepControl
from nsopt.stepping.driver import Driver
from nsopt.stepping.history import History
from nsopt.stepping.initial import Run, Start, check_start
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
        If the duration is not a positive number.
    """
    for what, value, kind in (("dynamics", dynamics, Dynamics), ("steps", steps, StepBounds)):
        if not isinstance(value, kind):
            hint = "use assemble(mechanism, elements)" if kind is Dynamics else "StepBounds(...)"
            raise TypeError(f"{what} must be {kind.__name__}, got {type(value).__name__}: {hint}")
    if not isinstance(duration, Real) or not 0 < float(duration) < np.inf:
        raise ValueError(f"duration must be a positive number of seconds, got {duration!r}")


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
        Keep only every that many steps, and the last.
    title : str
        Names the run in summaries and pictures.
    progress : bool
        Whether to show a progress bar on standard error.

    Returns
    -------
    Result
        Also where the run ends early, by Ctrl-C or by a step that nothing solved: then
        ``completed`` is False and ``data.attrs["stop_reason"]`` says why, where and what was tried.

    Raises
    ------
    ValueError
        Before anything is solved: a duration, parameter or start that is not legal.
    """
    check_run(dynamics, duration, steps)
    scheme, solver = scheme or PaperStep(), solver or Solver()
    p = dynamics.values(parameters)
    start = start or Start.stated(dynamics, parameters)
    check_start(dynamics, start, p)
    scheme.check(dynamics, p)
    driver = Driver(
        dynamics,
        Run(start, p, start.t + duration, steps),
        scheme,
        solver,
        control or LargestStep(),
        acceptance or Acceptance(),
    )
    history = History(dynamics, start, p, store_every, scheme.forces_at_end)
    stop_reason = _run(driver, history, progress)
    return history.result(
        {
            "title": title,
            "scheme": repr(scheme),
            "acceptance": json.dumps(asdict(driver.acceptance)),
            "scheme_name": type(scheme).__name__,
            "solver": repr(solver),
            "solver_name": driver.solver_name,
            "step_control": "" if scheme.chooses_h else repr(driver.control),
            "h_min": steps.h_min,
            "h_max": steps.h_max,
            "duration": duration,
            "completed": int(not stop_reason),
            "stop_reason": stop_reason,
            "steps_below_h_min": driver.below_h_min,
            "compile_time": driver.compile_time,
        }
    )


def _run(driver: Driver, history: History, progress: bool) -> str:
    """Add steps to ``history`` to the end; return why it ended early, or nothing."""
    begin = driver.run.start.t
    bar: tqdm[Any]
    with deferred_interrupt() as interrupted, _bar(driver.run.t_end - begin, progress) as bar:
        try:
            while not driver.done:
                taken = driver.advance()
                history.add(taken)
                _show(bar, taken, driver.now.t - bar.n - begin, history.count)
                if interrupted() and not driver.done:
                    return f"interrupted at t = {driver.now.t:.9g} s"
        except KeyboardInterrupt:
            return f"interrupted at t = {driver.now.t:.9g} s"
        except StepError as error:
            return str(error)
    return ""


def _bar(total: float, progress: bool) -> tqdm[Any]:
    return tqdm(
        total=total,
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
