"""The loop of a run: steps added to its record until the end, or until something ends it."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from nsopt.interrupt import deferred_interrupt, remember
from nsopt.mechanics import Dynamics, singular_posture
from nsopt.simulation.checkpoint import CheckpointError, CheckpointWriter
from nsopt.simulation.driver import Driver
from nsopt.simulation.progress import ProgressBar
from nsopt.simulation.record.history import History
from nsopt.simulation.step_error import StepError


def advance_to_end(
    driver: Driver,
    history: History,
    writer: CheckpointWriter | None,
    progress: bool,
    repeats: str = "",
    most: float = np.inf,
) -> str:
    """Add steps to ``history`` to the end; return why the run ended early, or nothing.

    ``repeats`` as for `ProgressBar`; ``most`` is the time that it may take [s].
    """
    run = driver.run
    with (
        deferred_interrupt() as interrupted,
        ProgressBar(run.start.t, driver.start.t, run.t_end, progress, repeats) as bar,
    ):
        try:
            begin = perf_counter()
            while not driver.done:
                accepted = driver.advance()
                history.add(accepted)
                bar.show(accepted)
                if driver.done:
                    break
                if perf_counter() - begin > most:
                    return f"more than {most:.2g} s were needed, {_at(driver)}"
                if interrupted():
                    return _interrupted(driver, history, writer)
                if writer is not None:
                    writer.write_if_due(history, driver)
        except KeyboardInterrupt:
            remember()
            return f"interrupted {_at(driver)}"
        except CheckpointError as error:
            return f"stopped {_at(driver)}: {error}"
        except StepError as error:
            return _with_posture(str(error), history.dynamics, driver)
    return ""


def _with_posture(reason: str, dynamics: Dynamics, driver: Driver) -> str:
    """Return why no step was found, and in its first line whether the posture is singular."""
    head, newline, attempts = reason.partition("\n")
    if singular := singular_posture(dynamics, driver.start.t, driver.start.q, driver.run.p):
        head = f"{head}; {singular}"
    return f"{head}{newline}{attempts}"


def _interrupted(driver: Driver, history: History, writer: CheckpointWriter | None) -> str:
    """Write the last checkpoint of a run that is interrupted; return the reason of its stop."""
    reason = f"interrupted {_at(driver)}"
    if writer is not None:
        try:
            writer.write(history, driver)
        except CheckpointError as error:
            return f"{reason}; {error}"
    return reason


def _at(driver: Driver) -> str:
    return f"at t = {driver.start.t:.9g} s"
