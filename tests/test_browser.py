"""The page for the browser holds the motion of the result, and fetches nothing."""

import json
import re
import sys
import threading

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

from nsopt import (
    Body,
    Frame,
    Mechanism,
    PlaneContact,
    Result,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.cli import BAD_INPUT, app
from nsopt.plots import save_view
from nsopt.plots.scenes.browser import MOST_FRAMES, playback_of
from tests.pages import Page

viser = pytest.importorskip("viser")

LENGTH, RATE, FAR = 0.2, 1.5, 0.1
TIP = (0.1, 0.0, 0.0)


def record(count=40, end=3.0, far=0.0, recorded=None, **attrs):
    """A rod that turns about its end at a constant rate, a cart that slides; at uneven times."""
    time = end * np.linspace(0, 1, count) ** 1.5
    angle, zero = RATE * time, np.zeros_like(time)
    rod = np.column_stack([LENGTH * np.cos(angle) + far * time, LENGTH * np.sin(angle), zero])
    cart = np.column_stack([FAR * np.sin(time) + far * time, zero + 0.4, zero])
    turned = np.column_stack([np.cos(angle / 2), zero, zero, np.sin(angle / 2)])
    still = np.column_stack([zero + 1, zero, zero, zero])
    tip = {
        f"tip.{axis}": ("time", (1 + TIP[0] / LENGTH) * rod[:, k], {"units": "m"})
        for k, axis in enumerate("xyz")
    }
    cross = np.array(TIP) + np.outer([-0.02, 0.02], (0.0, 1.0, 0.0))
    data = {
        "body_position": (("time", "body", "axis"), np.stack([rod, cart], axis=1)),
        "body_quaternion": (("time", "body", "quaternion"), np.stack([turned, still], axis=1)),
        **tip,
    }
    outline = [
        {"body": -1, "points": [[-1, 0.4, 0], [1, 0.4, 0]]},
        {"body": 0, "points": cross.tolist()},
        {"body": 1, "points": [[-0.05, 0, 0], [0.05, 0, 0], [0.05, 0.1, 0]]},
    ]
    frames = [
        {"element": "pin", "body": -1, "origin": [0, 0, 0]},
        {"element": "pin", "body": 0, "origin": [-LENGTH, 0, 0]},
    ]
    known = {
        "title": "rod & cart",
        "completed": 1,
        "scheme_name": "Exact",
        "h_min": 1e-3,
        "h_max": 1e-2,
        "outline": json.dumps(outline),
        "frames": json.dumps(frames),
        "pressed_frames": "[]",
        "gravity": np.array([0.0, -9.81, 0.0]),
    }
    names = {"time": time, "body": ["rod", "left/cart"]}
    return Result(xr.Dataset(data, coords=names, attrs=known | attrs))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    result = record()
    path = save_view(result, folder / "rod.html")
    assert [p.name for p in folder.iterdir()] == ["rod.html"]
    assert path.stat().st_size < 2_000_000
    return result, Page(path.read_text(encoding="utf-8"))


def test_frames_are_the_recorded_times_and_poses(saved):
    result, film = saved
    time = result["time"].values
    times, place = film.last("SetPositionMessage", "/world/bodies/rod", "position")
    assert len(times) == len(time) == 40
    assert np.allclose(times, time, atol=1e-9)
    assert film.length == pytest.approx(3.0 + 0.5)
    angle = RATE * times
    circle = LENGTH * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    assert np.allclose(place, circle, atol=1e-6)
    _, e = film.last("SetOrientationMessage", "/world/bodies/rod", "wxyz")
    half = np.arctan2(e[:, 3], e[:, 0])
    assert np.allclose(np.unwrap(2 * half, period=2 * np.pi), angle[-len(e) :], atol=1e-6)
    _, cart = film.last("SetPositionMessage", "/world/bodies/left∕cart", "position")
    assert np.allclose(cart[:, 0], FAR * np.sin(time), atol=1e-6)


def test_page_holds_bodies_joints_ground_and_points(saved):
    result, film = saved
    frames, lines, spheres = (
        film.added(f"{kind}Message") for kind in ("Frame", "LineSegments", "Icosphere")
    )
    bodies = {n.removeprefix("/world/bodies/") for n in frames if n.startswith("/world/bodies/")}
    assert bodies == {"rod", "left∕cart"}  # a slash would make it a node in a node
    assert len(bodies) == result.data.sizes["body"]
    assert {"/world/ground/lines", "/world/bodies/rod/stick", "/world/points/tip path"} <= {*lines}
    assert "/world/bodies/rod/to tip" in lines  # a cross of the outline tells whose point it is
    assert {"/world/bodies/rod/joint 0", "/world/ground/joint 0", "/world/points/tip"} <= {*spheres}
    _, tip = film.last("SetPositionMessage", "/world/points/tip", "position")
    assert np.allclose(np.linalg.norm(tip, axis=1), LENGTH + TIP[0])
    assert film.added("LabelMessage")["/world/points/tip/name"]["text"].strip() == "tip"
    updates = [m for _, m in film.messages if m["type"] == "SceneNodeUpdateMessage"]
    clock = [m["updates"]["text"] for m in updates if m["name"] == "/time"]
    assert clock[-1] == "t = 3.00 s"


def test_page_is_self_contained(saved):
    _, film = saved
    text = film.text
    policy = re.search(r'<head><meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)
    allowed = {source for rule in policy.group(1).split("; ") for source in rule.split()[1:]}
    # With these alone a browser refuses every address of the network and every other file.
    assert allowed == {"'none'", "'unsafe-inline'", "'unsafe-eval'", "blob:", "data:"}
    assert policy.group(1).startswith("default-src 'none'")
    assert set(re.findall(r"https?://[\w./-]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.findall(r'(?:src|href)="(?!data:)', text)
    assert "<title>rod &amp; cart</title>" in text
    assert "rod &amp; cart, Exact (h 1 to 10 ms)" in text


def test_long_records_are_thinned_and_short_motions_slowed():
    long = playback_of(record(count=5000, end=3.0))
    assert len(long.times) == MOST_FRAMES
    assert np.allclose(np.diff(long.times), 3.0 / (MOST_FRAMES - 1))
    assert long.speed == 1.0
    assert playback_of(record(end=0.02)).speed == pytest.approx(0.01)
    assert playback_of(record(end=600.0)).speed == pytest.approx(20.0)
    assert playback_of(record(), 0.25).speed == 0.25


def test_speed_stretches_the_film(tmp_path):
    film = Page(save_view(record(), tmp_path / "slow.html", speed=0.5).read_text(encoding="utf-8"))
    assert film.length == pytest.approx(3.0 / 0.5 + 0.5)
    assert "slowed 2 times" in film.text


def test_what_goes_far_stays_in_the_picture(tmp_path):
    result = record(far=20.0)
    film = Page(save_view(result, tmp_path / "far.html").read_text(encoding="utf-8"))
    _, shift = film.last("SetPositionMessage", "/world", "position")
    assert shift[-1][0] == pytest.approx(-20.0 * 3.0, abs=1.0)
    middle = result["body_position"].values.mean(axis=1)
    assert np.allclose(shift[-1] + middle[-1], middle[0], atol=1e-5)


def test_a_run_that_stopped_early_says_so(tmp_path):
    result = record(completed=0)
    early = Result(result.data.isel(time=slice(0, 3)))
    film = Page(save_view(early, tmp_path / "early.html").read_text(encoding="utf-8"))
    assert "stopped early" in film.text
    with pytest.raises(ValueError, match="has no step"):
        save_view(Result(result.data.isel(time=slice(0, 1))), tmp_path / "none.html")


def test_nothing_is_printed_or_left_running(tmp_path, capfd):
    before = {thread.ident for thread in threading.enumerate()}
    save_view(record(), tmp_path / "rod.html")
    assert capfd.readouterr() == ("", "")
    left = [t for t in threading.enumerate() if t.ident not in before and t.is_alive()]
    assert not [t.name for t in left if not t.name.startswith("ThreadPoolExecutor")]


@pytest.mark.parametrize(
    ("name", "speed", "message"),
    [
        ("rod.pdf", None, r"'rod\.pdf': end it with \.html"),
        ("rod.html", 0.0, "speed must be a positive number, got 0"),
        ("rod.html", float("nan"), "speed must be a positive number, got nan"),
    ],
)
def test_refusals(name, speed, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save_view(record(), tmp_path / name, speed)
    assert not list(tmp_path.iterdir())


def test_without_viser_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ImportError, match=re.escape("pip install nsopt[viz]")):
        save_view(record(), tmp_path / "rod.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_command_writes_the_page_and_says_its_size(tmp_path, monkeypatch):
    saved = tmp_path / "rod.nc"
    rod = Body("rod", 1.0, (0.01, 0.1, 0.1), position=(0.5, 0, 0), velocity=(3, 0, 0))
    floor = PlaneContact("floor", Frame(None), Frame(rod, (0.5, 0, 0)))
    simulate(
        assemble(Mechanism([rod]), [floor]),
        duration=0.039,
        steps=StepBounds(1e-3, 1e-3),
        scheme=Variational(),
        progress=False,
    ).save(saved)
    outcome = CliRunner().invoke(app, ["view", str(saved)])
    assert outcome.exit_code == 0, outcome.output
    assert re.search(r"rod\.html \(0\.\d MB\)", outcome.output)
    film = Page((tmp_path / "rod.html").read_text(encoding="utf-8"))
    assert len(film.last("SetPositionMessage", "/world/bodies/rod", "position")[0]) == 40
    monkeypatch.setitem(sys.modules, "viser", None)
    outcome = CliRunner().invoke(app, ["view", str(saved)])
    assert outcome.exit_code == BAD_INPUT
    assert "pip install nsopt[viz]" in outcome.output
