"""Moving pictures of results: stick figures as GIF or MP4."""

from __future__ import annotations

import contextlib
import math
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from PIL import Image

from nsopt.plots import style
from nsopt.plots.scene import AXES, Scene, view_of
from nsopt.result import Result, check_writable

Array = NDArray[np.float64]
Pixels = NDArray[np.uint8]
DPI = 100
LONG, SHORT = 7.2, 3.4  # inches: longer side of the picture of the mechanism, least shorter side
MARGIN = 0.06


def animate(
    result: Result,
    path: str | Path,
    fps: float = 25,
    speed: float = 1.0,
    view: str | None = None,
) -> Path:
    """Save the motion of a result as GIF or MP4, as the ending of ``path`` says.

    Bodies are lines from their centres of mass to their joints. The picture moves with a mechanism
    that goes much farther than its size; a strip below then shows the whole way.

    Parameters
    ----------
    result : Result
    path : str or Path
        Ending in .gif, or in .mp4 where ffmpeg is installed.
    fps : float [1/s]
        Pictures a second. A GIF rounds the time between them to 10 ms.
    speed : float
        2 plays twice as fast as it happened.
    view : str, optional
        One of ``nsopt.plots.scene.VIEWS``; the plane in which the bodies extend most by default.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        For another ending, MP4 without ffmpeg, an unknown view, ``fps`` or ``speed`` that is not
        positive, or a result that has no step.
    OSError
        Naming the path, if it cannot be written.
    """
    style.require((result,), "animation")
    for name, value in (("fps", fps), ("speed", speed)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be a positive number, got {value}")
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        raise ValueError(
            f"cannot save an animation as {path.name!r}: end it with {' or '.join(WRITERS)}"
        )
    film = Film(result, view)
    write = WRITERS[path.suffix.lower()]
    path = check_writable(path)
    partial = path.with_name(f"{path.stem}.partial{path.suffix}")
    try:
        write(film, frame_times(result, fps, speed), fps, speed, partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def frame_times(result: Result, fps: float, speed: float) -> Array:
    """Return the times of the pictures, evenly spaced, the last one at the end [s]."""
    time = result["time"].values
    start, end = float(time[0]), float(time[-1])
    # Round-off in the end must not add a picture.
    count = math.ceil((end - start) * fps / speed - 1e-9)
    times: Array = np.minimum(start + np.arange(count + 1) * speed / fps, end)
    times[-1] = end
    return times


class Film:
    """The figure of an animation, drawn anew for each time.

    Parameters
    ----------
    result : Result
    view : str, optional

    Raises
    ------
    ValueError
        For an unknown view.
    """

    def __init__(self, result: Result, view: str | None = None):
        self.scene = Scene(result)
        self.view = view_of(self.scene, view)
        self.name = result.name
        self.far = self.scene.travels_far()
        low, high = self._window()
        self.half = (high - low) / 2
        self.figure, self.ax, strip = self._figure()
        self.ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        self._fixed()
        self.outlines = [self._collection(b, 1.0) for b in range(len(self.scene.bodies))]
        self.sticks = [self._collection(b, 2.6) for b in range(len(self.scene.bodies))]
        looks = [style.look(b).color for b in range(len(self.scene.bodies))]
        self.traces = [self.ax.plot([], [], color=c, linewidth=0.8, alpha=0.55)[0] for c in looks]
        self.masses = [self.ax.plot([], [], "o", color=c, markersize=6, zorder=6)[0] for c in looks]
        self.mark = self._strip(strip) if strip is not None else None
        self.title = self.ax.set_title(self.name, fontsize=style.TITLE, family="monospace")
        self.canvas: Any = FigureCanvasAgg(self.figure)
        # Arranged once: arranging every picture takes most of the time, and would make it jump.
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")

    def _window(self) -> tuple[Array, Array]:
        """Return the corners of the picture [m]: all that is swept, or the mechanism alone."""
        scene = self.scene
        if self.far:
            middle = self.view(scene.poses.position[0].mean(axis=0))
            half = 0.9 * scene.size() * np.array([1.0, 0.45])
            return middle - half, middle + half
        swept = self.view(scene.swept())
        low, high = swept.min(axis=0), swept.max(axis=0)
        room = 0.5 * (high - low).max()
        if scene.ground:
            seen = np.clip(self.view(np.concatenate(scene.ground)), low - room, high + room)
            low, high = np.minimum(low, seen.min(axis=0)), np.maximum(high, seen.max(axis=0))
        extent = high - low
        largest = float(extent.max()) or 1.0
        # A motion along a line still needs a picture of some height.
        half = np.maximum(extent / 2 + MARGIN * largest, largest * SHORT / LONG / 2)
        return (low + high) / 2 - half, (low + high) / 2 + half

    def _figure(self) -> tuple[Figure, Axes, Axes | None]:
        size = LONG * self.half / self.half.max() + [0.9, 0.9 + 1.0 * self.far]
        pixels = 2 * np.round(size * DPI / 2)  # MP4 wants even numbers
        figure = Figure(figsize=tuple(pixels / DPI), dpi=DPI, layout="constrained")
        if not self.far:
            axes = [figure.subplots()]
        else:
            axes = list(figure.subplots(2, 1, height_ratios=(1.0, 0.06)))
        for ax in axes:
            style.plain(ax)
        axes[0].set_aspect("equal")
        return figure, axes[0], axes[1] if self.far else None

    def _fixed(self) -> None:
        """Draw what does not move."""
        scene, ax, view = self.scene, self.ax, self.view
        guides = scene.guides() if self.far else []
        for lines, colour in ((guides, "#bbbbbb"), (scene.ground, "black")):
            seen = [view(line) for line in lines]
            ax.add_collection(
                LineCollection(seen, colors=colour, linewidths=1.0, zorder=2), autolim=False
            )
        if scene.pins:
            ax.plot(
                *view(np.array(scene.pins)).T,
                "+",
                color="black",
                markersize=7,
                zorder=5,
                scalex=False,
                scaley=False,
            )
        if view.across:
            style.axis_labels(ax, f"{view.across} [m]", f"{view.up} [m]")
        else:
            style.axis_labels(ax, "[m], seen from above and aside", "[m]")

    def _collection(self, body: int, width: float) -> LineCollection:
        lines = LineCollection([], colors=style.look(body).color, linewidths=width, zorder=4)
        lines.set_capstyle("round")
        self.ax.add_collection(lines, autolim=False)
        return lines

    def _strip(self, ax: Axes) -> Line2D:
        """Draw the whole way; return the mark on it."""
        away = int(np.argmax(self.scene.travel()))
        along = self.scene.poses.position.mean(axis=1)[:, away]
        ax.plot([along.min(), along.max()], [0, 0], color=style.GREY, linewidth=1.5)
        ax.set(yticks=[], ylim=(-1, 1))
        ax.grid(False)
        ax.spines["left"].set_visible(False)
        style.axis_labels(ax, f"the whole way: {AXES[away]} [m]", None)
        return ax.plot([along[0]], [0], "D", color=style.COLOURS[1], markersize=7)[0]

    def draw(self, time: float, text: str) -> Pixels:
        """Return the picture at a time, (height, width, 4).

        Parameters
        ----------
        time : float [s]
        text : str
            The title.
        """
        scene, view, poses = self.scene, self.view, self.scene.at(time)
        outlines, sticks = (scene.placed(x, poses, 0) for x in (scene.outlines, scene.sticks))
        past = scene.poses.time <= time
        for b in range(len(scene.bodies)):
            self.outlines[b].set_segments([view(x) for x in outlines[b]])
            self.sticks[b].set_segments([view(x) for x in sticks[b]])
            here = view(poses.position[0, b])
            self.masses[b].set_data([here[0]], [here[1]])
            self.traces[b].set_data(*np.vstack([view(scene.poses.position[past, b]), here]).T)
        self._follow(poses.position[0].mean(axis=0))
        self.title.set_text(text)
        self.canvas.draw()
        return np.array(self.canvas.buffer_rgba(), dtype=np.uint8)

    def _follow(self, middle: Array) -> None:
        if self.mark is None:
            return
        centre = self.view(middle)
        self.ax.set_xlim(centre[0] - self.half[0], centre[0] + self.half[0])
        self.ax.set_ylim(centre[1] - self.half[1], centre[1] + self.half[1])
        self.mark.set_xdata([middle[int(np.argmax(self.scene.travel()))]])

    def frames(self, times: Array, speed: float) -> Iterator[Pixels]:
        """Yield the pictures at some times; the title says the time."""
        gap = float(np.min(np.diff(times), initial=1.0))
        digits = max(2, 1 - math.floor(math.log10(gap))) if gap > 0 else 3
        width = len(f"{times[-1]:.{digits}f}")
        played = "" if speed == 1 else f"   speed {speed:g}"
        for time in times:
            yield self.draw(float(time), f"{self.name}   t = {time:{width}.{digits}f} s{played}")


def _gif(film: Film, times: Array, fps: float, speed: float, path: Path) -> None:
    # One palette for all pictures, of the last, in which everything has been drawn.
    palette = _palette(next(film.frames(times[-1:], speed)))
    pictures = [
        _image(pixels).quantize(palette=palette, dither=Image.Dither.NONE)
        for pixels in film.frames(times, speed)
    ]
    pictures[0].save(
        path,
        format="GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=round(1000 / fps),
        loop=0,
        optimize=False,
    )


def _palette(pixels: Pixels) -> Image.Image:
    """Return a picture with the colours to use; white stays white."""
    picture = _image(pixels).quantize(64)
    colours = np.array(picture.getpalette()).reshape(-1, 3)
    # Pillow takes any near-white for white.
    colours[colours.min(axis=1) >= 248] = 255
    picture.putpalette(colours.ravel().tolist())
    return picture


def _image(pixels: Pixels) -> Image.Image:
    return Image.fromarray(pixels).convert("RGB")


def _mp4(film: Film, times: Array, fps: float, speed: float, path: Path) -> None:
    program = shutil.which("ffmpeg")
    if program is None:
        raise ValueError("MP4 needs ffmpeg, which is not on PATH: install it, or save as .gif")
    width, height = film.canvas.get_width_height()
    command = [
        program,
        "-y",
        "-loglevel",
        "error",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgba",
        "-s",
        f"{width}x{height}",
        "-r",
        f"{fps:g}",
        "-i",
        "-",
        "-an",
        "-pix_fmt",
        "yuv420p",
        str(path),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        # If ffmpeg gives up early, its own words say why.
        with contextlib.suppress(BrokenPipeError):
            for pixels in film.frames(times, speed):
                process.stdin.write(pixels.tobytes())
        _, words = process.communicate()
    if process.returncode:
        raise OSError(f"ffmpeg could not write {str(path)!r}: {words.decode().strip()}")


WRITERS: dict[str, Callable[[Film, Array, float, float, Path], None]] = {
    ".gif": _gif,
    ".mp4": _mp4,
}
"""How to write an animation, by the ending of its file."""
