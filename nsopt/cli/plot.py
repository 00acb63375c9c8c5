"""``nsopt plot``: pictures of saved results and of sweeps."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from nsopt.checks import check_names
from nsopt.cli.common import plain_errors
from nsopt.cli.look import PICTURES, SWEEP_PICTURES
from nsopt.files import check_writable
from nsopt.result import Result
from nsopt.stored import NOTES, PROVENANCE
from nsopt.stored_checks import faults_of_members
from nsopt.stored_hash import check_hash

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from nsopt.analysis import PoincareSection

SWEEP_ATTRIBUTES = ("title", "parameters", "made_with", "point_keys")  # texts that every sweep has
OF_ONE = ("animation", "coordinates")  # pictures of a single result


def plot(
    results: Annotated[
        list[Path],
        typer.Argument(help="Saved results, or sweeps; several are overlaid for comparison."),
    ],
    what: Annotated[
        str | None,
        typer.Option(
            help=f"Which picture: {', '.join(PICTURES)}, or animation; overview by default. Of "
            f"sweeps: {', '.join(SWEEP_PICTURES)}; measures by default."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write: .png, .pdf, .svg; .gif or .mp4 for an animation."),
    ] = None,
    joint: Annotated[
        list[str] | None,
        typer.Option(
            help="Show only this joint; joint_forces, joint_rms and joint_torques take several "
            "--joint."
        ),
    ] = None,
    component: Annotated[
        str | None,
        typer.Option(
            help="Show only this component, in contact_forces and velocities: x, y, z, size; of "
            "forces also axial and radial."
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What is across: a joint, whose angle it is, in place of the time; of sweeps a "
            "swept name.",
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(help="Across in phase_portrait and poincare_map, such as crank.angle."),
    ] = None,
    y: Annotated[
        str | None,
        typer.Option(help="Upwards there, such as 'body_acceleration[slider, x]'."),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(help="The quantity of spectra, or the measure of a sweep."),
    ] = None,
    section: Annotated[
        str | None,
        typer.Option(
            help="Of poincare_map: a period [s], a joint (each whole turn of it), a contact, or "
            "impacts, the default."
        ),
    ] = None,
    speed: Annotated[
        float | None, typer.Option(help="Of an animation: 0.1 plays ten times as slowly.")
    ] = None,
    fps: Annotated[float | None, typer.Option(help="Of an animation: pictures a second.")] = None,
    magnify: Annotated[
        float | None,
        typer.Option(help="Of an animation: how many times larger clearances are drawn."),
    ] = None,
    begin: Annotated[float | None, typer.Option("--from", help="From this time on [s].")] = None,
    end: Annotated[float | None, typer.Option("--to", help="Up to this time [s].")] = None,
) -> None:
    """Draw a picture of one or several saved results, or of sweeps."""
    from nsopt.animation import animate
    from nsopt.plots import FIGURES, SWEEP_FIGURES, save

    with plain_errors():
        of_sweeps = all(map(_is_sweep, results))
        what = what or ("measures" if of_sweeps else "overview")
        figures: dict[str, Callable[..., Any]] = {**FIGURES, "animation": animate}
        figures = dict(SWEEP_FIGURES) if of_sweeps else figures
        check_names("unknown picture", [what], figures)
        ending = ".gif" if what == "animation" else ".png"
        target = out or results[0].with_name(f"{results[0].stem}_{what}{ending}")
        options: dict[str, Any] = {"component": component, "over": over}
        options |= _take_joints(what, joint or [], figures)
        options |= {"section": section, "x": x, "y": y, "of": of}
        options |= {"speed": speed, "fps": fps, "magnify": magnify}
        given = {name: value for name, value in options.items() if value is not None}
        _check_options(what, given, figures)
        if what in OF_ONE and len(results) > 1:
            raise ValueError(f"{what} is of one result, got {len(results)}: draw each by itself")
        loaded: list[Any]
        if of_sweeps:
            if begin is not None or end is not None:
                raise ValueError("--from and --to are of results, not of sweeps")
            loaded = [_open_sweep(path) for path in results]
        else:
            loaded = [_cut(result, begin, end) for result in _open_results(results)]
        check_writable(target)
        if what == "animation":
            animate(loaded[0], target, **given)
        else:
            save(_draw(figures[what], loaded, given), target)
        print(target)


def _open_results(paths: Sequence[Path]) -> list[Result]:
    """Return saved results, those of one title by the names of their files."""
    loaded = [Result.open(path) for path in paths]
    titles = [result.name for result in loaded]
    return [
        result if titles.count(title) == 1 else Result(result.data.assign_attrs(title=path.stem))
        for result, title, path in zip(loaded, titles, paths, strict=True)
    ]


def _cut(result: Result, begin: float | None, end: float | None) -> Result:
    """Return the part of a result between two times, named after them."""
    if begin is None and end is None:
        return result
    time = result["time"].values
    first, last = time[0] if begin is None else begin, time[-1] if end is None else end
    kept = np.flatnonzero((time >= first) & (time <= last))
    if len(kept) < 2:
        raise ValueError(
            f"no step of {result.name} from {first:g} to {last:g} s: it goes from {time[0]:g} to "
            f"{time[-1]:g} s"
        )
    title = f"{result.name}, {first:g} to {last:g} s"
    return Result(result.data.isel(time=kept).assign_attrs(title=title, steps=len(kept) - 1))


def _check_options(
    what: str, given: Mapping[str, Any], figures: Mapping[str, Callable[..., Any]]
) -> None:
    """Refuse options that a picture does not take."""
    for name in given:
        names = {name, "joints"} if name == "joint" else {name}
        takes = [x for x, y in figures.items() if names & inspect.signature(y).parameters.keys()]
        if what not in takes:
            raise ValueError(f"--{name} is of {', '.join(takes) or 'other results'}, not of {what}")


def _take_joints(
    what: str, joints: list[str], figures: Mapping[str, Callable[..., Any]]
) -> dict[str, Any]:
    """Return the joints to show, by the name of the argument that the picture has for them."""
    if joints and "joints" in inspect.signature(figures[what]).parameters:
        return {"joints": joints}
    if len(joints) > 1:
        raise ValueError(f"{what} shows one joint at a time, got --joint {', '.join(joints)}")
    return {"joint": joints[0] if joints else None}


def _draw(figure: Callable[..., Figure], loaded: list[Any], given: dict[str, Any]) -> Figure:
    """Return a figure of results or sweeps; an unknown quantity, a KeyError, is a ValueError."""
    if "section" in given:
        given = given | {"section": _find_section(given["section"], loaded[0])}
    try:
        return figure(*loaded, **given)
    except KeyError as error:
        raise ValueError(error.args[0]) from None


def _find_section(text: str, result: Result) -> PoincareSection:
    """Return the section that ``--section`` means."""
    from nsopt.analysis import Crossing, Impacts, Strobe, freedom_of, quantity, unit

    if text == "impacts":
        return Impacts()
    if text in result["contact"].values:
        return Impacts(text)
    with suppress(ValueError):
        angle = freedom_of(result, text)
        if unit(result, angle) == "rad":
            turned = np.unwrap(quantity(result, angle))
            return Crossing(angle, every=2 * np.pi, rising=bool(turned[-1] >= turned[0]))
    try:
        period = float(text)
    except ValueError:
        angles = [x for x in map(str, result["freedom"].values) if unit(result, x) == "rad"]
        known = ", ".join([*map(str, result["contact"].values), *angles])
        raise ValueError(
            f"no section {text!r}: give a period [s], impacts, or one of {known or 'no other'}"
        ) from None
    return Strobe(period)


def _is_sweep(path: Path) -> bool:
    """Return whether a file is the dataset of a sweep; no if it cannot be read."""
    import h5py

    try:
        with h5py.File(path) as file:
            return "time" not in file and ("completed" in file or "point_keys" in file.attrs)
    except OSError:
        return False


def _open_sweep(path: Path) -> xr.Dataset:
    """Return the dataset of a sweep, whole and as it was saved; a ValueError says what is not."""
    import h5py
    import xarray as xr

    with h5py.File(path) as file:
        _refuse_faults(path, [*faults_of_members(file)])
    check_hash(path)
    try:
        data = xr.load_dataset(path, engine="h5netcdf")
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{str(path)!r} cannot be read: {reason}") from error
    _refuse_faults(path, [f"variable {x!r} is missing" for x in NOTES if x not in data.data_vars])
    _refuse_faults(path, [*_find_faults(data)])
    return data


def _refuse_faults(path: Path, faults: Sequence[str]) -> None:
    if faults:
        raise ValueError(f"{str(path)!r} is no whole sweep: {'; '.join(faults[:5])}")


def _find_faults(data: xr.Dataset) -> Iterator[str]:
    """Yield what the dataset of a sweep cannot have or lacks, in words."""
    swept = data["completed"].dims
    coords = [x for x in data.coords.values() if x.dims and {*x.dims} <= {*swept}]
    if not coords:
        yield "the values that were swept are missing"
    for name, x in data.variables.items():
        if name in NOTES and x.dims != swept:
            yield f"variable {name!r} is over {x.dims}, not {swept}"
        elif name in data.data_vars and (x.dtype.kind in "iuf") is (name == "stop_reason"):
            # All variables are numbers, but for this one, which is text.
            yield f"variable {str(name)!r} is of type {x.dtype}"
        elif x.dtype.kind == "f" and np.any(np.isinf(x.values)):
            yield f"variable {str(name)!r} has entries that are infinite"
        elif name in NOTES and x.dtype.kind in "if" and np.any(x.values < 0):
            yield f"variable {name!r} has entries that are negative"
        for key in ("units", "long_name"):
            if not isinstance(x.attrs.get(key, ""), str):
                yield f"attribute {key!r} of {str(name)!r} must be text"
    if not np.all(np.isin(data["completed"], (0, 1))):
        yield "variable 'completed' has others than 0, 1"
    for name in (*SWEEP_ATTRIBUTES, *(x for x in PROVENANCE if x in data.attrs)):
        if not isinstance(data.attrs.get(name), str):
            yield f"attribute {name!r} must be text, got {data.attrs.get(name)!r:.60}"
