"""The result of an optimization in phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from nsopt import motion_files
from nsopt.arrays import Array
from nsopt.checks import positive
from nsopt.hold import Hold
from nsopt.result import Result, write_table
from nsopt.sampled import choose_times, find_kinks, hold_forces
from nsopt.trajectory.grid_error import SOLVED

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class PhasedResult:
    """An optimal motion in phases.

    Attributes
    ----------
    phases : sequence of Result
        One for each phase, its time from zero; iterations and solve times are of all phases.
    names : sequence of str
    stop_reason : str
        Why it is no solution, the phases at fault named; empty if it is one.
    objective_error : float
        By what the cost of all phases is off by their grids, NaN if that is not known. The errors
        of each are in its result.
    objective_order : float
        The order that was seen, NaN if none was.
    error_unknown : str
        Why the errors are not known; empty if they are.
    limits_cost : float
        What the cost of all phases grew by to keep limits within steps.
    """

    phases: Sequence[Result]
    names: Sequence[str]
    stop_reason: str
    objective_error: float = np.nan
    objective_order: float = np.nan
    error_unknown: str = ""
    limits_cost: float = 0.0

    @property
    def completed(self) -> bool:
        """Whether it is a solution."""
        return not self.stop_reason

    @property
    def objective(self) -> float:
        """The cost of all phases."""
        return sum(x.objective for x in self.phases)

    @property
    def borders(self) -> Array:
        """Times at which phases begin, and that at which the last ends, (phases + 1,) [s]."""
        lengths = [float(x["time"].values[-1]) for x in self.phases]
        return np.asarray(np.cumsum([0.0, *lengths]))

    def sample(
        self, dt: float | None = None, *, times: ArrayLike | None = None, hold: Hold | None = None
    ) -> xr.Dataset:
        """Return the motion every dt from its start on, and at its end, or at given times.

        Parameters
        ----------
        dt : float [s]
        times : (n,) [s]
            In place of dt.
        hold : Hold, optional
            As for `Result.sample`: forces are then such that a controller which holds them moves
            the mechanism as the motion does, over the borders of phases too.

        Returns
        -------
        xarray.Dataset
            Over ``time``: q, v, a, tau as by `Result.sample`, and ``phase``, the number of the
            phase; a border belongs to the phase that begins there. Inputs are by phase.
        """
        borders = self.borders
        t = choose_times(borders, dt, times)
        if hold is None:
            return self._evaluate(t)
        kinks = [borders]
        for result, begin, end in zip(self.phases, borders[:-1], borders[1:], strict=True):
            within = np.clip(t[(begin < t) & (t < end)] - begin, 0, end - begin)
            kinks.append(begin + find_kinks(result.data, np.r_[0.0, within, end - begin]))
        return hold_forces(t, hold, np.unique(np.r_[t, *kinks]), self._evaluate, ("tau",))

    def _evaluate(self, t: Array) -> xr.Dataset:
        """Return the motion at times (n,)."""
        import xarray as xr

        borders = self.borders
        k = np.clip(np.searchsorted(borders, t, side="right") - 1, 0, len(self.phases) - 1)
        parts = []
        for i, result in enumerate(self.phases):
            # By round-off these may be beyond the duration.
            own = np.clip(t[k == i] - borders[i], 0, float(result["time"].values[-1]))
            part = result.sample(times=own).drop_vars(["input", "input_name"])
            number = ("time", np.full(len(own), i))
            parts.append(part.assign_coords(time=t[k == i]).assign(phase=number))
        found = xr.concat(parts, "time", data_vars="minimal", coords="minimal", compat="override")
        found = found[["phase", "q", "v", "a", "tau"]]  # in any order by concat
        by_phase = np.argsort(k, kind="stable")
        found = found.isel(time=np.argsort(by_phase))
        completed = int(self.completed)
        return found.assign_attrs(title="; ".join(self.names), completed=completed)

    def to_csv(self, path: str | Path, *, rate: float, hold: Hold | None = None) -> Path:
        """Write the motion as comma-separated values: time, phase, q, v, a, tau by joint.

        Parameters
        ----------
        path : path
            The file appears whole or not at all.
        rate : float [Hz]
            Of rows, as for `sample` with dt = 1 / rate.
        hold : Hold, optional
            As for `sample`: give it where tau is to be played back.
        """
        return write_table(path, self._sample_rows(rate, hold))

    def to_joint_trajectory(self, *, rate: float, hold: Hold | None = None) -> dict[str, Any]:
        """Return the motion with the fields of a ROS trajectory_msgs/JointTrajectory.

        As `Result.to_joint_trajectory` does of one phase.

        Parameters
        ----------
        rate : float [Hz]
        hold : Hold, optional
            As for `sample`.
        """
        return motion_files.joint_trajectory(self._sample_rows(rate, hold))

    def _sample_rows(self, rate: float, hold: Hold | None) -> xr.Dataset:
        return self.sample(1 / positive("rate of a motion's rows [Hz]", rate), hold=hold)

    def summary(self) -> str:
        """Return the cost of all phases with its error, and the main figures of each phase."""
        each = (f"{name}\n{x.summary()}" for name, x in zip(self.names, self.phases, strict=True))
        return "\n\n".join([f"objective {self.objective:.7g}{self._tell_error()}", *each])

    def _tell_error(self) -> str:
        """Return in words by how much the cost of all phases is off, if they are a solution."""
        if not self.completed:
            return ""
        limits = self.limits_cost
        is_seen = limits > SOLVED * abs(self.objective)
        of_limits = f", {limits:.2g} of it to keep limits within steps" if is_seen else ""
        if self.error_unknown:
            return f", error unknown: {self.error_unknown}{of_limits}"
        order = self.objective_order
        how = f"order {order:.2g}" if np.isfinite(order) else "no order seen"
        by = f"by half and twice the steps: {how}{of_limits}"
        return f", off by {self.objective_error:.2g} ({by})"
