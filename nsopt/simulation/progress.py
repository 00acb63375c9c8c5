"""The progress bar of a run."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from nsopt.simulation.record.accepted_steps import AcceptedSteps

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the bar as it is."""
        del kind, error, traceback
        self._bar.close()

    def show(self, accepted: AcceptedSteps) -> None:
        """Show steps that were accepted."""
        if not len(accepted):
            return
        self._count += len(accepted)
        rate = self._count / max(self._bar.format_dict["elapsed"], 1e-9)
        self._bar.set_postfix_str(f"h={accepted.h[-1]:.2e} s {rate:.0f} steps/s", refresh=False)
        self._bar.update(accepted.t[-1] - self._begin - self._bar.n)
