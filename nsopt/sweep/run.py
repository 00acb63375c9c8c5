"""Many runs of one problem, and the dataset they make."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nsopt.checks import positive
from nsopt.files import check_writable
from nsopt.interrupt import guard, is_interrupted
from nsopt.problem import Problem, Variants, load_stated
from nsopt.stored import NOTES
from nsopt.sweep.measures import MEASURES, OF_CHECKED, Measure, make_notes
from nsopt.sweep.points import Points, Row, find_settings
from nsopt.sweep.store import Store, digest, name_program, name_versions, write

if TYPE_CHECKING:
    import xarray as xr

    from nsopt.sweep.job import Job

KEYS = "point_keys"
"""Attribute of a sweep: the name of the file of each of its points."""

_KINDS: dict[str, type] = {"O": str, "i": int}
"""Types of text and whole numbers by NumPy's kind: netCDF gives stored points other ones."""


def sweep(
    problem: str | Path | Problem | Variants,
    over: Points,
    *,
    measure: Mapping[str, Measure] | None = None,
    duration: float | None = None,
    workers: int | None = None,
    workers_timeout: float | None = None,
    folder: str | Path | None = None,
    title: str | None = None,
    progress: bool = True,
    overwrite: bool = True,
    **options: Any,
) -> xr.Dataset:
    """Run a problem at every point of a grid or of samples.

    Parameters
    ----------
    problem : Problem or Variants, or the name or file of one
    over : Grid or Samples
    measure : mapping of name to function
        Functions of a Result that return a number or a DataArray, beside `MEASURES`.
    duration : float [s]
        Another duration than the problem's.
    workers : int
        Processes; one for each core by default. With one, all runs in this process. Within
        ``joblib.parallel_config(...)`` that configuration decides: with "dask" the points run on
        the cluster of the current Client, whose workers must have one thread each and the same
        versions as this process.
    workers_timeout : float [s], optional
        How long to wait while that cluster has no worker; by default without end, with a warning
        after a minute.
    folder : path
        Where each point is kept as it finishes, and the whole at last as ``sweep.nc``. Points of
        the same model, options, measures and program that are there already are not run again,
        in whichever sweep they were. Damaged ones are, and those that were refused or broke off
        with an error; a run that stopped early is not.
    title : str
        Names the sweep; by default the name by which the problem is given, or sweep.
    progress : bool
        Whether to show a progress bar on standard error.
    overwrite : bool
        Whether a ``sweep.nc`` in the folder is replaced even if it has points that this sweep has
        not.
    **options
        As for `simulate`: scheme, solver, acceptance, ... With ``check=Check()`` each run tells
        the errors of its measures, ``error_`` before their names, and figures of its contacts
        with theirs; by default none is checked.

    Returns
    -------
    xarray.Dataset
        The swept names as dimensions (of `Samples`: coordinates along ``sample``), `NOTES` and
        measures as variables. A point that failed has ``completed`` 0, its ``stop_reason``, and
        NaN for every measure.

    Raises
    ------
    ValueError, TypeError
        Before anything is run: names, options or a duration that are not legal, a sweep that is
        not to be replaced.
    OSError
        If the folder cannot be written.
    ConnectionError
        If the scheduler of the cluster is lost and does not come back.
    TimeoutError
        If the cluster has no worker for ``workers_timeout``. What is in the folder stays there.

    Examples
    --------
    >>> data = sweep("case_a", Grid({"clearance": [1e-4, 1e-3], "h": [1e-3, 5e-4]}))
    ... # doctest: +SKIP
    """
    from nsopt.sweep.job import Job  # with all that a run needs

    if not isinstance(over, Points):
        raise TypeError(f"over must be Grid(...) or Samples(...), got {type(over).__name__}")
    if not isinstance(problem, Problem | Variants | str | Path):
        raise TypeError(
            f"problem must be a Problem or the name of one, got {type(problem).__name__}: use "
            "Problem(dynamics, duration, steps)"
        )
    if isinstance(problem, str | Path):
        title, problem = title or Path(problem).stem, load_stated(str(problem))
    measures = {**MEASURES, **(measure or {})}
    job = Job(problem, duration, options, measures, title or "sweep", name_program())
    over.check(problem, {*NOTES, *job.measures, *OF_CHECKED})
    if workers_timeout is not None:
        positive("workers_timeout", workers_timeout)
    target = None if folder is None else check_writable(Path(folder) / "sweep.nc")
    rows = over.rows()
    keys = _hash_points(job, rows)
    if target is not None and not overwrite:
        _check_continues(target, keys)
    processes = workers, workers_timeout
    points = _find_points(job, rows, keys, Store(target and target.parent), processes, progress)
    data = _gather(
        over, points, [*measures, *OF_CHECKED], _find_provenance(job, over) | {KEYS: " ".join(keys)}
    )
    if target is not None:
        with guard():
            write(data, target)
            if is_interrupted():  # while the file was written
                raise KeyboardInterrupt
    return data


def _hash_points(job: Job, rows: list[Row]) -> list[str]:
    """Return a hash of all that the numbers of each point depend on."""
    shared = digest(job.options, job.measures, job.program)
    problems = [job.at(row) for row in rows]
    models = {id(x.dynamics): x.dynamics for x in problems}  # one of many points is hashed once
    hashes = {number: digest(dynamics) for number, dynamics in models.items()}
    return [
        digest(
            *(shared, hashes[id(x.dynamics)], x.duration, x.steps, x.start, x.scheme),
            *find_settings(job.problem, row),
        )
        for x, row in zip(problems, rows, strict=True)
    ]


def _check_continues(target: Path, keys: list[str]) -> None:
    """Raise ValueError if the points of a finished sweep are not all among those of ``keys``."""
    import xarray as xr

    if not target.exists():
        return
    try:
        with xr.open_dataset(target) as data:
            stored = str(data.attrs.get(KEYS, "")).split()
    except (OSError, ValueError):  # damaged, or something else
        stored = []
    if not stored or not set(stored) <= set(keys):
        raise ValueError(
            f"{str(target)!r} has points that this sweep has not (of other values, options or "
            "versions): name another folder (--out), or replace it (--overwrite)"
        )


def _find_points(
    job: Job,
    rows: list[Row],
    keys: list[str],
    store: Store,
    processes: tuple[int | None, float | None],
    progress: bool,
) -> list[xr.Dataset]:
    """Return all points in order: loaded where they are stored, run where not."""
    from tqdm import tqdm  # by the first sweep, not by the import of nsopt

    from nsopt.parallel import DIED, run_all, wait_interruptibly  # joblib takes long to import
    from nsopt.sweep.job import SweepPoint

    loaded = {k: store.load(key) for k, key in enumerate(keys)}
    done = {k: data for k, data in loaded.items() if data is not None}
    todo = {k: row for k, row in enumerate(rows) if k not in done}
    failed = sum(not data["completed"] for data in done.values())
    bar: tqdm[Any]
    with (
        tqdm(total=len(rows), initial=len(done), unit="run", disable=not progress) as bar,
        closing(wait_interruptibly(run_all(job.run, todo, *processes))) as arriving,
    ):
        for k, value in arriving:
            point = value or SweepPoint(make_notes(None, DIED, float("nan")), final=False)
            done[k] = point.data
            if point.final:
                store.save(keys[k], point.data)
            failed += not point.data["completed"]
            bar.set_postfix_str(f"{failed} failed" if failed else "", refresh=False)
            bar.update()
    return [done[k] for k in range(len(rows))]


def _find_provenance(job: Job, over: Points) -> dict[str, Any]:
    """Return the provenance of a sweep, beside that of its results."""
    values, bounds = find_settings(job.problem, {})
    swept = {*over.values, *(bounds if "h" in over.values else ())}
    return {
        "title": job.title,
        "parameters": json.dumps({name: x for name, x in values.items() if name not in swept}),
        **{name: x for name, x in bounds.items() if name not in swept},
        "duration": job.at({}).duration,
        "made_with": name_versions(),
    }


def _gather(
    over: Points, points: Sequence[xr.Dataset], names: Iterable[str], attrs: Mapping[str, Any]
) -> xr.Dataset:
    """Return one dataset of all points; a measure is NaN where a point does not have it.

    ``names`` are the measures, of which one that no point has is left out, ``attrs`` attributes of
    the whole. A measure that has other dimensions at other points is a ValueError.
    """
    import xarray as xr

    measures = [name for name in (*NOTES, *names) if any(name in point for point in points)]
    variables = [_stack(name, over, points) for name in measures]
    data = xr.merge(variables, join="outer", compat="no_conflicts", combine_attrs="override")
    shared = next((point.attrs for point in points if point.attrs), {})
    return data.drop_attrs(deep=False).assign_attrs({**attrs, **shared})


def _stack(name: str, over: Points, points: Sequence[xr.Dataset]) -> xr.DataArray:
    """Return one measure of all points; labels that some do not have are NaN there."""
    import xarray as xr

    given = {k: point[name] for k, point in enumerate(points) if name in point}
    try:
        aligned = xr.align(*given.values(), join="outer", copy=False)
        stacked = np.stack([x.values for x in aligned])
    except ValueError as error:
        raise ValueError(f"measure {name!r} differs in shape between points: {error}") from error
    first = aligned[0]
    if len(given) < len(points):
        full = np.full((len(points), *first.shape), np.nan)
        full[list(given)] = stacked
        stacked = full
    labels = {d: first.coords[d] for d in first.dims if d in first.coords}
    if stacked.dtype.kind in _KINDS:
        stacked = stacked.astype(_KINDS[stacked.dtype.kind])
    shape, dims = (*over.sizes.values(), *first.shape), (*over.sizes, *first.dims)
    coords: dict[Any, Any] = {**over.coords, **labels}
    return xr.DataArray(stacked.reshape(shape), coords, dims, name, first.attrs)
