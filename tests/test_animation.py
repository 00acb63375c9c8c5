"""Animations show the recorded motion at even times."""

import sys

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from nsopt import Result
from nsopt.animation import Film, animate, frame_times
from tests.plotted import CLEARANCE, ran_clearance, ran_ideal

OUTLINE = (
    '[{"body": -1, "points": [[0, 0, -5], [0, 0, 5]]}, '
    '{"body": 0, "points": [[-0.2, 0.01, 0], [-0.2, -0.01, 0]]}]'
)
FRAMES = (
    '[{"element": "end", "body": -1, "origin": [0, 0, 0]}, '
    '{"element": "end", "body": 0, "origin": [-0.2, 0, 0]}]'
)


def record(position, quaternion, time, **attrs):
    n = len(time)
    return Result(
        xr.Dataset(
            {
                "body_position": (("time", "body", "axis"), np.reshape(position, (n, 1, 3))),
                "body_quaternion": (
                    ("time", "body", "quaternion"),
                    np.reshape(quaternion, (n, 1, 4)),
                ),
            },
            coords={"time": time, "body": ["rod"]},
            attrs={
                "title": "rod",
                "completed": 1,
                "h_min": 1e-3,
                "h_max": 1e-2,
                "outline": OUTLINE,
                "frames": FRAMES,
                "pressed_frames": "[]",
                "gravity": np.array([0.0, -9.81, 0.0]),
                **attrs,
            },
        )
    )


def turning(end=1.0, rate=1.0):
    """A rod that turns about its end at a constant rate, recorded at uneven times."""
    time = end * np.linspace(0, 1, 200) ** 1.5
    angle = rate * time
    zero = np.zeros_like(time)
    return record(
        np.column_stack([0.2 * np.cos(angle), 0.2 * np.sin(angle), zero]),
        np.column_stack([np.cos(angle / 2), zero, zero, np.sin(angle / 2)]),
        time,
    )


def sliding(far=4.0):
    time = np.linspace(0, 1, 50)
    zero = np.zeros_like(time)
    return record(
        np.column_stack([zero, zero, far * time]),
        np.column_stack([zero + 1, zero, zero, zero]),
        time,
    )


@pytest.mark.parametrize(
    ("end", "fps", "speed", "count"),
    [(1.0, 25, 1.0, 26), (1.0, 25, 2.0, 14), (0.99, 10, 1.0, 11), (0.3, 10, 0.5, 7)],
)
def test_frames_are_even_and_end_at_the_end(end, fps, speed, count):
    times = frame_times(turning(end), fps, speed)
    assert len(times) == count
    assert times[0] == 0
    assert times[-1] == end
    assert np.allclose(np.diff(times)[:-1], speed / fps)
    assert 0 < np.diff(times)[-1] <= speed / fps * (1 + 1e-9)


def test_gif_opens_with_all_frames(tmp_path):
    path = animate(turning(), tmp_path / "rod.gif", fps=10)
    with Image.open(path) as picture:
        assert picture.n_frames == 11
        assert picture.info["duration"] == 100
        assert picture.info["loop"] == 0
        picture.seek(10)
        picture.load()
        assert picture.convert("RGB").getpixel((2, 2)) == (255, 255, 255)
    assert path.stat().st_size < 1_000_000
    assert [p.name for p in tmp_path.iterdir()] == ["rod.gif"]


def test_pictures_carry_the_pose(tmp_path):
    film = Film(turning())
    film.draw(0.5, "half")
    (stick,) = film.sticks[0].get_segments()
    assert np.allclose(stick[0], [0.2 * np.cos(0.5), 0.2 * np.sin(0.5)], atol=1e-5)
    assert np.allclose(stick[1], 0.0, atol=1e-5)
    x, y = film.traces[0].get_data()
    assert np.allclose(np.hypot(x, y), 0.2, atol=1e-5)
    assert np.arctan2(y[-1], x[-1]) == pytest.approx(0.5, abs=1e-5)
    assert film.title.get_text() == "half"


def test_pictures_differ_and_are_equal_in_scale():
    film = Film(turning())
    first, last = film.frames(np.array([0.0, 1.0]), 1.0)
    assert first.shape == last.shape
    assert first.shape[0] % 2 == first.shape[1] % 2 == 0  # for MP4
    assert np.any(first != last)
    box = film.ax.get_window_extent()
    across, up = np.ptp(film.ax.get_xlim()), np.ptp(film.ax.get_ylim())
    assert box.width / across == pytest.approx(box.height / up, rel=1e-6)


def test_picture_follows_what_goes_far():
    film = Film(sliding())
    film.draw(0.5, "")
    assert (film.view.across, film.view.up) == ("x", "z")
    assert np.mean(film.ax.get_ylim()) == pytest.approx(2.0)
    assert np.ptp(film.ax.get_ylim()) < 1.0
    assert film.mark.get_xdata() == [pytest.approx(2.0)]
    assert Film(sliding(far=0.1)).mark is None


def test_clearances_are_magnified_about_their_pins():
    """The bushing is off the pin as on record, a hundred times as far, within the circle."""
    result = ran_clearance()
    film, k = Film(result, "xy", magnify=100.0), 25
    film.draw(float(result["time"].values[k]), "")
    (circle,), (pin,), (orbit,) = film.circles, film.pins, film.orbits
    assert np.hypot(*circle.get_data()) == pytest.approx(100 * CLEARANCE)
    offset = result["contact_offset"].values[: k + 1, :2, :2].mean(axis=1)  # of both ends
    way = np.column_stack(orbit.get_data())
    assert way[:-1] == pytest.approx(100 * offset, abs=1e-9)
    assert np.ravel(pin.get_data()) == pytest.approx(100 * offset[-1], abs=1e-9)
    assert np.max(np.hypot(*way.T)) > 50 * CLEARANCE
    low, _ = film.ax.get_xlim()
    assert low < np.min(circle.get_xdata())
    list(film.frames(result["time"].values[-1:], 0.5))
    assert "clearance x 100" in film.title.get_text()
    assert "speed 0.5" in film.title.get_text()
    with pytest.raises(ValueError, match="no clearance to magnify: ideal"):
        Film(ran_ideal(), magnify=2.0)


def test_another_view(tmp_path):
    assert Film(turning(), "oblique").ax.get_xlabel() == "[m], seen from above and aside"
    with pytest.raises(ValueError, match="unknown view 'top'"):
        animate(turning(), tmp_path / "rod.gif", view="top")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("rod.avi", {}, r"'rod\.avi': end it with \.gif or \.mp4"),
        ("rod.gif", {"fps": 0}, "fps must be positive, got 0"),
        ("rod.gif", {"speed": float("nan")}, "speed must be finite, got nan"),
        ("rod.gif", {"magnify": -2.0}, "magnify must be positive, got -2"),
    ],
)
def test_refusals(name, options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        animate(turning(), tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def put_ffmpeg(tmp_path, monkeypatch):
    """Return a function that makes some Python lines the only ffmpeg on PATH."""
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))

    def put(*lines):
        script, program = programs / "ffmpeg.py", programs / "ffmpeg"
        script.write_text("\n".join(["import sys", *lines]))
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{script}" "$@"\n')
        program.chmod(0o755)

    return put


def test_mp4_without_ffmpeg_names_the_remedy(tmp_path, put_ffmpeg):
    with pytest.raises(ValueError, match=r"not on PATH: install it, or save as \.gif"):
        animate(turning(), tmp_path / "rod.mp4")
    assert [p.name for p in tmp_path.iterdir()] == ["programs"]


def test_mp4_hands_all_pictures_to_ffmpeg(tmp_path, put_ffmpeg):
    put_ffmpeg(  # a stand-in whose film is its arguments and the pictures as they came
        "with open(sys.argv[-1], 'wb') as film:",
        "    film.write(' '.join(sys.argv[1:-1]).encode() + b'\\n' + sys.stdin.buffer.read())",
    )
    path = animate(turning(), tmp_path / "rod.mp4", fps=4)
    words, pictures = path.read_bytes().split(b"\n", 1)
    film = Film(turning())
    width, height = film.canvas.get_width_height()
    assert words.decode().startswith(
        f"-y -loglevel error -f rawvideo -pix_fmt rgba -s {width}x{height} -r 4 -i -"
    )
    frames = np.frombuffer(pictures, dtype=np.uint8).reshape(-1, height, width, 4)
    assert len(frames) == 5
    (last,) = film.frames(np.array([1.0]), 1.0)
    assert np.array_equal(frames[-1], last)
    assert np.any(frames[0] != frames[-1])
    assert {p.name for p in tmp_path.iterdir()} == {"rod.mp4", "programs"}


def test_ffmpeg_that_fails_is_reported(tmp_path, put_ffmpeg):
    put_ffmpeg("sys.exit('no such codec')")
    with pytest.raises(OSError, match=r"ffmpeg could not write .*rod.*: no such codec"):
        animate(turning(), tmp_path / "rod.mp4", fps=5)
    assert [p.name for p in tmp_path.iterdir()] == ["programs"]
