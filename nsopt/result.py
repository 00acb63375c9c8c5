"""The result of a run or an optimization: one labelled dataset, saved as netCDF."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import ArrayLike

from nsopt import motion_files
from nsopt.caveats import caveats
from nsopt.checks import positive
from nsopt.files import check_writable, create, replacing
from nsopt.hold import Hold
from nsopt.sampled import sample
from nsopt.stored import ERROR, decode_texts, describe_unknown_name, encode_texts
from nsopt.stored_checks import check_complete, check_readable, check_values
from nsopt.stored_hash import HASH, check_hash, make_netcdf
from nsopt.summary import summary

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


T = TypeVar("T")


class Result:
    """The record of a run; every variable has named dimensions and units.

    Attributes
    ----------
    data : xarray.Dataset
        Coordinate ``time`` [s], the start included. Variables of a step (h, impulse, ...) belong to
        the time at which the step ends and are NaN at the first time. Provenance is in ``attrs``.
    """

    def __init__(self, data: xr.Dataset):
        for name in ("q_name", "v_name"):
            if name in data.coords and name not in data.xindexes:
                data = data.set_xindex(name)
        self.data = data

    def __getitem__(self, name: str) -> xr.DataArray:
        """Return a variable by name; KeyError tells the nearest one and lists what there is."""
        if name not in self.data.variables:
            if name in json.loads(self.data.attrs.get("left_out", "[]")):
                raise KeyError(f"{name!r} was not recorded: leave out variables= of simulate")
            raise KeyError(describe_unknown_name(name, self.data))
        return self.data[name]

    def __contains__(self, name: object) -> bool:
        """Return whether there is a variable of a name."""
        return name in self.data.variables

    def sel(self, **labels: Any) -> xr.Dataset:
        """Return the parts of all variables that have some labels.

        Parameters
        ----------
        **labels
            By dimension: ``q="crank.angle"``, ``v=``, ``contact=``, ``joint=``, ``body=``,
            ``axis=`` a name or a list of names; ``time=`` in s, the nearest is taken.

        Raises
        ------
        KeyError
            For an unknown dimension or label, with those there are.

        Examples
        --------
        >>> result.sel(body="slider", axis="x")["body_acceleration"]  # doctest: +SKIP
        """
        data, times = self.data, labels.pop("time", None)
        for dimension, wanted in labels.items():
            name = f"{dimension}_name" if f"{dimension}_name" in data.coords else dimension
            if name not in data.indexes:
                known = ", ".join(map(str, data.sizes))
                raise KeyError(f"no dimension {dimension!r}; there are {known}")
            there = data.indexes[name]
            for label in wanted if isinstance(wanted, list | tuple) else [wanted]:
                if label not in there:
                    known = ", ".join(map(str, there))
                    raise KeyError(f"no {dimension} {label!r}; there are {known}")
            data = data.sel({name: wanted})
        return data if times is None else data.sel(time=times, method="nearest")

    def __repr__(self) -> str:
        """Return the warnings, the first lines of the summary, and of an optimum the objective."""
        warned = [f"WARNING               {text}" for text in self.warnings]
        first, motion, *rest = self.summary().splitlines()[len(warned) :]
        return "\n".join([*warned, first, motion, *(x for x in rest if x.startswith("objective"))])

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before its figures are used, each with a remedy; empty if all is well."""
        return caveats(self.data)

    @property
    def error(self) -> xr.Dataset:
        """The estimated errors, by the names of what they are of, NaN where they are not known.

        Of q, v, places, energies over time, of angles, gaps, joint_reaction where on record, of
        figures of each joint with contacts (`peak_force`, `rms_force`, ...), of statistics beyond
        the predictable time; ``motion`` is that of the body that is farthest off [m].
        The attribute ``order`` of each is the order that was seen, NaN where the error is the
        difference from runs in other steps itself.

        Of an optimum those of q, v, drive and input by its grid.

        Raises
        ------
        AttributeError
            If it was not repeated in other steps (``check`` of `simulate` and `optimize`), with the
            reason.
        """
        errors = {
            str(name).removeprefix(ERROR): error
            for name, error in self.data.variables.items()
            if str(name).startswith(ERROR)
        }
        if not errors:
            reason = self.data.attrs.get("error_unknown", "it was never measured")
            raise AttributeError(f"the error of {self.name!r} is unknown: {reason}")
        names = ("title", "error_parts", "error_unknown", "objective_error", "objective_order")
        attrs = {name: self.data.attrs[name] for name in names if name in self.data.attrs}
        coordinates = self.data.drop_vars([*self.data.data_vars]).drop_attrs(deep=False)
        return coordinates.assign(errors).assign_attrs(attrs)

    @property
    def completed(self) -> bool:
        """Whether the run reached its end."""
        return bool(self.data.attrs["completed"])

    @property
    def stop_reason(self) -> str:
        """The reason for which the run ended early; empty if it did not."""
        return str(self.data.attrs["stop_reason"])

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C or SIGTERM ended the run."""
        return bool(self.data.attrs.get("interrupted", 0))  # results of 1.0.0 do not tell

    @property
    def name(self) -> str:
        """Title of the run, where it has one."""
        return str(self.data.attrs["title"]) or "the run"

    @property
    def is_optimum(self) -> bool:
        """Whether the result is of an optimization, not of a simulation."""
        return "objective" in self.data.attrs

    @property
    def objective(self) -> float:
        """Of an optimum, its cost."""
        return float(self._read_of_optimum("objective"))

    @property
    def status(self) -> str:
        """Of an optimum, the final status of its solver, or that it was refused after the solve."""
        return str(self._read_of_optimum("status"))

    @property
    def detailed_cost(self) -> dict[str, float]:
        """Of an optimum, the share of each cost in the objective."""
        return dict(json.loads(self._read_of_optimum("detailed_cost")))

    @property
    def guess_cost(self) -> dict[str, float]:
        """Of an optimum, each cost of its guess; empty where the guess has no forces."""
        return dict(json.loads(self._read_of_optimum("guess_cost")))

    def save(self, path: str | Path) -> Path:
        """Write netCDF; the file appears whole or not at all.

        Raises
        ------
        OSError
            Naming the path, if it cannot be written.
        """
        path = check_writable(path)
        with replacing(path, durable=True) as new:
            create(new, make_netcdf(encode_texts(self.data)))
        return path

    @classmethod
    def open(cls, path: str | Path, lazy: bool = False) -> Result:
        """Read a saved result.

        Parameters
        ----------
        path : path
        lazy : bool
            Leave variables in the file until they are used, and do not keep them, for results
            larger than memory; texts are read at once, and whether the data are those that were
            saved is not checked (``nsopt info`` does). With dask
            ``result.data.chunk(time=100_000)`` makes arrays of which only parts are in memory.

        Raises
        ------
        OSError
            If there is no such file.
        ValueError
            If the file is no result of nsopt, or another one than was saved, by its hash.
        """
        import xarray as xr

        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"no result file {str(path)!r}")
        _check_file(path, check_readable, path)
        try:
            read = partial(xr.open_dataset, cache=False) if lazy else xr.load_dataset
            data = decode_texts(read(path, engine="h5netcdf"))
        except Exception as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"{str(path)!r} is not a netCDF file: {reason}") from error
        if "nsopt_version" not in data.attrs and "model_hash" not in data.attrs:
            kind = "the table of a sweep" if "completed" in data.data_vars else "something else"
            raise ValueError(
                f"{str(path)!r} is a netCDF file, but {kind}, not a result: open it by "
                "xarray.open_dataset"
            )
        data.attrs.pop(HASH, None)  # which 1.0.0 wrote there
        _check_file(path, check_complete, data)
        if not lazy:
            check_saved(path, data)
        return cls(data)

    load = open  # the name that users look for beside `save`

    def to_dataframe(self) -> pd.DataFrame:
        """Return all variables over time as one table, ``variable[label]`` for each component."""
        import pandas as pd

        columns: dict[str, Any] = {}
        for name, variable in self.data.variables.items():
            if "time" not in variable.dims or name == "time":
                continue
            others = [d for d in variable.dims if d != "time"]
            table = variable.transpose("time", *others).values.reshape(variable.sizes["time"], -1)
            labels = [""] if not others else self._make_labels([str(d) for d in others])
            columns |= {f"{name}{label}": table[:, k] for k, label in enumerate(labels)}
        return pd.DataFrame(columns, index=pd.Index(self.data["time"].values, name="time"))

    def sample(
        self, dt: float | None = None, *, times: ArrayLike | None = None, hold: Hold | None = None
    ) -> xr.Dataset:
        """Return an optimal motion between its nodes, by the polynomials of its steps.

        Parameters
        ----------
        dt : float [s]
            Every dt from the first time on, and the last time.
        times : (n,) [s]
            In place of dt.
        hold : Hold, optional
            What a controller does with forces and inputs between the samples: held by
            `ZeroOrderHold`, linear by `FirstOrderHold`. Then they are not those of the times, but
            such that the controller moves the mechanism as the motion does.

        Returns
        -------
        xarray.Dataset
            Over ``time``: q, v, a, tau [N, N m] (forces of drives), input. Accelerations, forces
            and inputs are parabolas over a step, v and q are integrals of the former. Where an
            optimization was given a scheme, accelerations are those of the cubic polynomials
            through the nodes; forces are held, or linear, as the scheme takes them.

        Raises
        ------
        ValueError
            If it is a simulation, was found in steps of a scheme and has coordinates of free bodies
            or ball joints, or the times are not within the motion, or do not rise where there is a
            ``hold``.
        """
        return sample(self.data, dt, times, hold)

    def to_csv(self, path: str | Path, *, rate: float, hold: Hold | None = None) -> Path:
        """Write an optimal motion as comma-separated values: time, q, v, a, tau by joint.

        Parameters
        ----------
        path : path
            The file appears whole or not at all.
        rate : float [Hz]
            Of rows, as for `sample` with dt = 1 / rate.
        hold : Hold, optional
            As for `sample`: give it where tau is to be played back.

        Raises
        ------
        OSError
            Naming the path, if it cannot be written.
        ValueError
            As for `sample`.
        """
        return write_table(path, self._at_rate(rate, hold))

    def to_c(
        self, path: str | Path, *, rate: float, name: str = "motion", hold: Hold | None = None
    ) -> Path:
        """Write an optimal motion as a header in C, arrays ``name_time``, ``name_q`` and so on.

        As `to_csv`; ValueError too if ``name`` is no identifier.
        """
        return _write(path, motion_files.c_table(self._at_rate(rate, hold), name))

    def to_joint_trajectory(self, *, rate: float, hold: Hold | None = None) -> dict[str, Any]:
        """Return an optimal motion with the fields of a ROS trajectory_msgs/JointTrajectory.

        Joint names, and points of positions, velocities, accelerations, effort, time_from_start.
        Bodies and ball joints that turn freely are under ``multi_dof_joint_trajectory``, with the
        fields of a MultiDOFJointTrajectory: transforms and velocities of the centre of mass in
        world axes, of a ball joint in those of the body before it.

        Parameters
        ----------
        rate : float [Hz]
            Of points, as for `sample` with dt = 1 / rate.
        hold : Hold, optional
            As for `sample`.

        Raises
        ------
        ValueError
            As for `sample`.
        """
        return motion_files.joint_trajectory(self._at_rate(rate, hold))

    def _at_rate(self, rate: float, hold: Hold | None) -> xr.Dataset:
        return self.sample(1 / positive("rate of a motion's rows [Hz]", rate), hold=hold)

    def _make_labels(self, dims: list[str]) -> list[str]:
        """Return ``[slider, x]`` for each combination of labels along dimensions."""
        import pandas as pd

        names = [self.data[f"{d}_name" if f"{d}_name" in self.data else d].values for d in dims]
        return [f"[{', '.join(map(str, entry))}]" for entry in pd.MultiIndex.from_product(names)]

    def _read_of_optimum(self, name: str) -> Any:
        if not self.is_optimum:
            raise AttributeError(
                f"{self.name!r} is a simulation, which has no {name}: results of optimize have one"
            )
        return self.data.attrs[name]

    def summary(self, full: bool = False) -> str:
        """Return the main figures of the motion: at most 14 lines, of an optimum 20.

        Parameters
        ----------
        full : bool
            Whether to return all there is to tell, as ``nsopt info`` does.
        """
        return summary(self.data, full)


def check_saved(path: Path, data: xr.Dataset) -> str:
    """Return the hash that a file carries, empty if it has none; ``data`` are what was read of it.

    A ValueError tells of data that are not those that were saved, by that hash, or none that a run
    records.
    """
    saved = check_hash(path)
    _check_file(path, check_values, data)
    return saved


def _check_file(path: Path, check: Callable[[T], None], content: T) -> None:
    """Check what was read of a file; the error has its path and a remedy."""
    try:
        check(content)
    except ValueError as error:
        raise ValueError(
            f"{str(path)!r} is no whole result: {error}; take another copy, or run it anew"
        ) from None


def write_table(path: str | Path, motion: xr.Dataset) -> Path:
    """Write a sampled motion as comma-separated values; errors as for `Result.to_csv`."""
    exact = f"%.{motion_files.DIGITS}g"
    text = Result(motion).to_dataframe().to_csv(float_format=exact, lineterminator="\n")
    return _write(path, text)


def _write(path: str | Path, text: str) -> Path:
    path = check_writable(path)
    with replacing(path) as new:
        create(new, text)
    return path
