"""A result as one HTML file that a browser shows in space and plays: no server, no network."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nsopt.files import check_writable, create, replacing
from nsopt.plots import style
from nsopt.plots.scenes.browser_scene import BrowserScene, Playback
from nsopt.plots.scenes.scene import Scene
from nsopt.result import Result

if TYPE_CHECKING:
    import viser

MOST_FRAMES = 300  # largest number of pictures: the page holds the poses of all bodies in each
# Bounds of the length of a film whose speed is not given [s]: less is too quick to be followed, of
# more nobody waits for the end.
SHORTEST, LONGEST = 2.0, 30.0
NAMED_BODIES = 8  # largest number of bodies that the caption names

# The page may run what it holds and fetch nothing: no address is allowed.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: data:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src data: blob:; "
    "worker-src blob: data:; base-uri 'none'; form-action 'none'"
)
CAPTION = (
    "position:fixed;top:.8em;right:1em;z-index:1;pointer-events:none;"
    "font:13px/1.5 sans-serif;color:#333"
)


def save_view(result: Result, path: str | Path, speed: float | None = None) -> Path:
    """Save the motion of a result as a page to be opened in any browser, from disk.

    Bodies are lines from their centres of mass to their joints, joints small spheres; the points of
    `Tracker` are followed by their path. The page has a slider of time, turns and zooms by mouse,
    and fetches nothing. It is made by viser [Yi et al., viser, Apache-2.0], whose player it holds:
    some 0.9 MB and the motion, with at most 300 frames.

    Parameters
    ----------
    result : Result
    path : str or Path
        Ending in .html.
    speed : float, optional
        2 plays twice as fast as it happened. By default 1, but less where the motion takes under 2
        s and more where it takes over 30 s. The slider counts seconds of the film; the time of the
        motion is written above the mechanism.

    Returns
    -------
    Path

    Raises
    ------
    ImportError
        Without viser: ``pip install nsopt[viz]``.
    ValueError
        For another ending, ``speed`` that is not positive, or a result that has no step.
    OSError
        Naming the path, if it cannot be written.
    """
    style.require_steps((result,), "view")
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"cannot save a view as {path.name!r}: end it with .html")
    if speed is not None and not (math.isfinite(speed) and speed > 0):
        raise ValueError(f"speed must be a positive number, got {speed}")
    _import_viser()
    path = check_writable(path)
    with replacing(path) as new:
        create(new, page(result, speed))
    return path


def page(result: Result, speed: float | None = None) -> str:
    """Return the page of `save_view` as text."""
    scene, playback = Scene(result), playback_of(result, speed)
    with _start_quiet_server() as server:
        shown = BrowserScene(server, result, scene, playback)
        recorded = server.get_scene_serializer()
        for k, wait in enumerate(np.diff(playback.times) / playback.speed):
            recorded.insert_sleep(float(wait))
            shown.show(k + 1)
        # The last picture stays for a moment before the film begins anew.
        recorded.insert_sleep(0.5)
        player = recorded.as_html()
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    player = player.replace("<head>", f"<head>{policy}", 1)
    player = player.replace("<title>Viser</title>", f"<title>{html.escape(result.name)}</title>", 1)
    begin, body, end = player.rpartition("<body>")
    return begin + body + _write_caption(result, scene, playback) + end


def playback_of(result: Result, speed: float | None = None) -> Playback:
    """Return the recorded times, or 300 even ones if there are more, and the speed."""
    times = result["time"].values
    length = float(times[-1] - times[0])
    if len(times) > MOST_FRAMES:
        times = np.linspace(times[0], times[-1], MOST_FRAMES)
    if speed is None:
        speed = length / min(max(length, SHORTEST), LONGEST)
        speed = float(f"{speed:.1g}") if speed >= 1 else 1 / float(f"{1 / speed:.1g}")
    return Playback(times, speed)


def _import_viser() -> Any:
    try:
        import viser
    except ImportError as error:
        raise ImportError(
            f"a view in the browser needs viser, which is not there ({error}): "
            "pip install nsopt[viz]"
        ) from error
    return viser


@contextmanager
def _start_quiet_server() -> Iterator[viser.ViserServer]:
    """Yield a server that nobody calls, as viser records scenes only with one."""
    module = _import_viser()
    import rich

    console = rich.get_console()
    was, console.quiet = console.quiet, True
    server = None
    try:
        server = module.ViserServer(host="127.0.0.1", port=0, verbose=False)
        yield server
    finally:
        if server is not None:
            server.stop()
        console.quiet = was


def _write_caption(result: Result, scene: Scene, playback: Playback) -> str:
    """Return the caption of the page: the run, and the colour of each body."""
    lines, speed = [f"<b>{html.escape(style.label(result))}</b>"], playback.speed
    if speed != 1:
        faster = f"played {speed:.3g} times faster"
        lines.append(faster if speed > 1 else f"slowed {1 / speed:.3g} times")
    if len(scene.bodies) <= NAMED_BODIES:
        lines += [
            f'<span style="color:{style.look(b).color}">&#9632;</span> {html.escape(name)}'
            for b, name in enumerate(scene.bodies)
        ]
    else:
        lines.append(f"{len(scene.bodies)} bodies: their names are in the tree, below right")
    return f'<div style="{CAPTION}">{"<br>".join(lines)}</div>'
