"""The loop of a run: steps added to its record until its end, with a progress bar."""

from __future__ import annotations

from time import thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nsopt.interrupt import is_interrupted
from nsopt.mechanics import Dynamics, singular_posture
from nsopt.simulation.checkpoint import CheckpointError, CheckpointWriter
from nsopt.simulation.driver import Driver
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.record.history import History
from nsopt.simulation.step_error import StepError

if TYPE_CHECKING:
    from tqdm import tqdm


class ProgressBar:
    """A bar of the simulated time on standard error, with step size and speed.

    Parameters
    ----------
    begin, now, end : float [s]
        Start of the run, time from which it goes on, and end.
    shown : bool
    repeats : str
        The steps of a run that repeats another one, in words.
    """

    def __init__(
        self, begin: float, now: float, end: float, shown: bool, repeats: str = ""
    ) -> None:
        from tqdm import tqdm  # by the first run, not by the import of nsopt

        self._begin, self._count = begin, 0
        self._bar: tqdm[Any] = tqdm(
            total=end - begin,
            initial=now - begin,
            unit="s",
            disable=not shown,
            desc=f"again in {repeats}" if repeats else None,
            mininterval=0.2,
            bar_format="{l_bar}{bar}| {n:.4f}/{total:g} s [{elapsed}<{remaining}{postfix}]",
        )

    def __enter__(self) -> ProgressBar:
        """Return the bar."""
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the bar as it is."""
        self._bar.close()

    def show(self, accepted: AcceptedSteps) -> None:
        """Show steps that were accepted."""
        if not len(accepted):
            return
        self._count += len(accepted)
        rate = self._count / max(self._bar.format_dict["elapsed"], 1e-9)
        self._bar.set_postfix_str(f"h={accepted.h[-1]:.2e} s {rate:.0f} steps/s", refresh=False)
        self._bar.update(accepted.t[-1] - self._begin - self._bar.n)


class Stop(NamedTuple):
    """Why a run ended early: an empty reason if it did not."""

    reason: str = ""  # the lines after the first are attempts at the last step
    interrupted: bool = False  # whether Ctrl-C or SIGTERM ended it
    no_step: bool = False  # whether no step was found, as would be so again

    @property
    def first_line(self) -> str:
        """The reason without the attempts."""
        return self.reason.partition("\n")[0]


def advance_to_end(
    driver: Driver,
    history: History,
    writer: CheckpointWriter | None,
    progress: bool,
    repeats: str = "",
    time_limit: float = np.inf,
) -> Stop:
    """Add steps to the record of a run until its end, or until something stops it.

    Parameters
    ----------
    driver, history
        Of the run.
    writer : CheckpointWriter or None
    progress : bool
    repeats : str
        As for `ProgressBar`.
    time_limit : float [s]
        Of the processor, so that other programs change nothing.
    """
    run = driver.run
    with ProgressBar(run.start.t, driver.start.t, run.t_end, progress, repeats) as bar:
        try:
            begin = thread_time()
            while not driver.done:
                accepted = driver.advance()
                history.add(accepted)
                bar.show(accepted)
                if driver.done:
                    break
                if thread_time() - begin > time_limit:
                    return Stop(f"more than {time_limit:.2g} s were needed, {_name_time(driver)}")
                if is_interrupted():
                    return Stop(_write_last(driver, history, writer), interrupted=True)
                if writer is not None:
                    writer.write_if_due(history, driver)
        except KeyboardInterrupt:
            return Stop(f"interrupted {_name_time(driver)}", interrupted=True)
        except CheckpointError as error:
            return Stop(f"stopped {_name_time(driver)}: {error}")
        except StepError as error:
            return Stop(_add_posture(str(error), history.dynamics, driver), no_step=True)
    return Stop()


def _add_posture(reason: str, dynamics: Dynamics, driver: Driver) -> str:
    """Return why no step was found, and in its first line whether the posture is singular."""
    head, newline, attempts = reason.partition("\n")
    if singular := singular_posture(dynamics, driver.start.t, driver.start.q, driver.run.p):
        head = f"{head}; {singular}"
    return f"{head}{newline}{attempts}"


def _write_last(driver: Driver, history: History, writer: CheckpointWriter | None) -> str:
    """Write the last checkpoint of a run that is interrupted; return the reason of its stop."""
    reason = f"interrupted {_name_time(driver)}"
    if writer is not None:
        try:
            writer.write(history, driver)
        except CheckpointError as error:
            return f"{reason}; {error}"
    return reason


def _name_time(driver: Driver) -> str:
    return f"at t = {driver.start.t:.9g} s"
