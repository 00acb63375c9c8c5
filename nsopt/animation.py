"""Moving pictures of results: stick figures as GIF or MP4."""

from __future__ import annotations

import contextlib
import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from nsopt.arrays import Array
from nsopt.checks import positive
from nsopt.files import check_writable, replacing
from nsopt.plots import Film, Pixels, require_steps
from nsopt.result import Result


def animate(
    result: Result,
    path: str | Path,
    fps: float = 25,
    speed: float = 1.0,
    view: str | None = None,
    magnify: float | None = None,
) -> Path:
    """Save the motion of a result as GIF or MP4, as the ending of ``path`` says.

    Bodies are lines from their centres of mass to their joints. The picture moves with a mechanism
    that goes much farther than its size; a strip below then shows the whole way.

    Parameters
    ----------
    path : str or Path
        Ending in .gif, or in .mp4 where ffmpeg is installed.
    fps : float [1/s]
        Pictures a second. A GIF rounds the time between them to 10 ms.
    speed : float
        2 plays twice as fast as it happened.
    view : str, optional
        One of ``nsopt.plots.scenes.scene.VIEWS``; by default the plane in which the bodies extend
        most.
    magnify : float, optional
        How many times larger clearances of bores are drawn: a circle about each pin, and in it
        where the bushing is and was.

    Raises
    ------
    ValueError
        For another ending, MP4 without ffmpeg, an unknown view, ``fps``, ``speed`` or ``magnify``
        that is not positive, no clearance to magnify, or a result that has no step.
    OSError
        Naming the path, if it cannot be written.
    """
    require_steps((result,), "animation")
    for name, value in (("fps", fps), ("speed", speed), ("magnify", magnify)):
        if value is not None:
            positive(name, value)
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        raise ValueError(
            f"cannot save an animation as {path.name!r}: end it with {' or '.join(WRITERS)}"
        )
    film = Film(result, view, magnify)
    write = WRITERS[path.suffix.lower()]
    path = check_writable(path)
    with replacing(path) as new:
        write(film, frame_times(result, fps, speed), fps, speed, new)
    return path


def frame_times(result: Result, fps: float, speed: float) -> Array:
    """Return the times of the pictures (n,) [s], evenly spaced but for the last one, at the end."""
    time = result["time"].values
    start, end = float(time[0]), float(time[-1])
    # Round-off in the end must not add a picture.
    count = math.ceil((end - start) * fps / speed - 1e-9)
    times: Array = np.minimum(start + np.arange(count + 1) * speed / fps, end)
    times[-1] = end
    return times


def _write_gif(film: Film, times: Array, fps: float, speed: float, path: Path) -> None:
    # One palette for all pictures, of the last, in which everything has been drawn.
    palette = _make_palette(next(film.frames(times[-1:], speed)))
    pictures = [
        _make_image(pixels).quantize(palette=palette, dither=Image.Dither.NONE)
        for pixels in film.frames(times, speed)
    ]
    how: dict[str, Any] = {"format": "GIF", "duration": round(1000 / fps), "loop": 0}
    pictures[0].save(path, save_all=True, append_images=pictures[1:], optimize=False, **how)


def _make_palette(pixels: Pixels) -> Image.Image:
    """Return a picture whose palette has the 64 colours to use; white stays white."""
    picture = _make_image(pixels).quantize(64)
    colours = np.array(picture.getpalette()).reshape(-1, 3)
    # The palette of Pillow has some near-white, 248 or more of 255, in place of white.
    colours[colours.min(axis=1) >= 248] = 255
    picture.putpalette(colours.ravel().tolist())
    return picture


def _make_image(pixels: Pixels) -> Image.Image:
    return Image.fromarray(pixels).convert("RGB")


def _write_mp4(film: Film, times: Array, fps: float, speed: float, path: Path) -> None:
    program = shutil.which("ffmpeg")
    if program is None:
        raise ValueError("MP4 needs ffmpeg, which is not on PATH: install it, or save as .gif")
    width, height = film.canvas.get_width_height()
    read = f"-f rawvideo -pix_fmt rgba -s {width}x{height} -r {fps:g} -i -"  # from its input
    write = "-an -pix_fmt yuv420p"  # no sound; the colours that all players have
    command = [program, *f"-y -loglevel error {read} {write}".split(), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        # If ffmpeg gives up early, its own message says why.
        with contextlib.suppress(BrokenPipeError):
            for pixels in film.frames(times, speed):
                process.stdin.write(pixels.tobytes())
        _, message = process.communicate()
    if process.returncode:
        raise OSError(f"ffmpeg could not write {str(path)!r}: {message.decode().strip()}")


WRITERS: dict[str, Callable[[Film, Array, float, float, Path], None]] = {
    ".gif": _write_gif,
    ".mp4": _write_mp4,
}
"""Writers of animations by the ending of the file."""
