"""Scripts of the gallery run as they stand, and the numbers that they find are those of theory."""

import ast
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from nsopt import animation
from tests import gallery_references as theory

FOLDER = Path(__file__).resolve().parents[1] / "notebooks" / "gallery"
SCRIPTS = {path.stem: path for path in sorted(FOLDER.rglob("*.py"))}
LONGEST = 30
"""Lines of code of a script, without imports and what it says of itself."""


class Fact(NamedTuple):
    """A number that a script finds, by the names in it, and what it must be."""

    found: Callable[[dict[str, Any]], Any]
    true: Callable[[dict[str, Any]], Any]
    rel: float = 1e-3
    abs: float = 1e-12


def of(name):
    """Return what reads one name of a script."""
    return lambda x: x[name]


def constant(value):
    return lambda _: value


FACTS = {
    # Joints with clearance.
    "ball_joint": Fact(
        lambda x: (x["force"].min(), x["force"].max()),
        lambda x: np.full(2, theory.G / np.cos(x["TILT"])),
        1e-5,
    ),
    "door": Fact(of("sag"), theory.door),
    "first_impact": Fact(of("impulses"), theory.first_impact, 1e-6),
    "gough_platform": Fact(of("moved"), theory.gough_platform, 2e-3),
    "knocking_pin": Fact(of("stroke"), lambda x: 2 * (x["CRANK"] + x["CLEARANCE"]), 2e-3),
    "oil_film": Fact(of("eccentricity"), theory.oil_film, 1e-6),
    "slider_in_guide": Fact(of("stroke"), lambda x: 2 * x["CRANK"]),
    "worn_or_not": Fact(of("clearance"), constant(1e-3), 1e-2),
    # Contact and friction.
    "bouncing_ball": Fact(of("rest"), theory.bouncing_ball, 2e-3),
    "bowling": Fact(of("rolls"), lambda x: 2 * x["SPEED"] / (7 * x["FRICTION"] * theory.G), 2e-3),
    "impact_laws": Fact(lambda x: [y[0] for y in x["rebounds"].values()], theory.impact_laws, 5e-3),
    "ladder": Fact(of("leaves"), constant(2 / 3), 2e-3),
    "mecanum": Fact(lambda x: x["place"][-1], theory.twisting, abs=1e-4),
    "rocking_block": Fact(of("ratio"), theory.rocking_block, 5e-3),
    "stick_slip": Fact(of("slips"), lambda x: x["STATIC"] * x["MASS"] * theory.G, 2e-2),
    # Linkages.
    "bennett": Fact(lambda x: (x["found"].gruebler, x["found"].local_freedom), constant((-2, 1))),
    "bricard": Fact(of("drift"), constant(0.0), abs=1e-5),
    "cam": Fact(of("lift"), theory.cam, 1e-9),
    "cardan": Fact(
        lambda x: (x["rate"].min(), x["rate"].max()),
        lambda x: (x["SPEED"] * np.cos(x["ANGLE"]), x["SPEED"] / np.cos(x["ANGLE"])),
    ),
    "flexible_chain": Fact(of("hand"), constant((1.0, 0.8)), 1e-6),
    "peaucellier": Fact(lambda x: np.ptp(x["x"]), constant(0.0), abs=1e-9),
    "squeezer": Fact(of("crank"), constant(15.81077119629904)),  # IVP test set, "andrews"
    # Bodies that swing, spin and bend.
    "cantilever": Fact(of("frequency"), theory.cantilever, 2e-2),
    "balanced_lift": Fact(
        lambda x: (x["balanced"].parameters["k"], *x["after"]),
        lambda x: (1200.0 * 28.0 * theory.G / (2 * 120.0), *np.zeros(9)),  # two springs of 120 N
        rel=1e-9,
        abs=1e-6,
    ),
    "charmie": Fact(
        lambda x: np.hstack([x["path"], x["force"] / 1e3]),
        lambda x: np.hstack([x["exact"], x["needed"] / 1e3]),
        abs=1e-9,
    ),
    "double_pendulum": Fact(of("drift"), constant(0.0), abs=1e-3),
    "nut_on_screw": Fact(of("fallen"), theory.nut_on_screw, 1e-9),
    "skate": Fact(of("depth"), lambda x: x["pull"] / (2 * x["SPIN"] ** 2), 1e-4),
    "tumbling": Fact(of("period"), theory.tumbling),
    "hip": Fact(lambda x: max(x["rises"], 0.0), constant(0.0), abs=1e-9),
    # Best motions.
    "brachistochrone": Fact(of("duration"), theory.cycloid_time, 1e-4),
    "crane": Fact(of("duration"), theory.crane, 1e-3),
    "grasp": Fact(lambda x: x["best"].detailed_cost["JointResistance"], theory.resistance, 1e-2),
    "hopper": Fact(of("bears"), constant(7.5 * theory.G), 1e-6),
    "least_load": Fact(
        lambda x: x["found"][0].sample(times=x["found"][0]["time"].values)["tau"].values,
        theory.drives,
        abs=1e-3,
    ),
    "push_block": Fact(
        lambda x: x["pushes"].sum(),
        lambda x: x["FRICTION"] * theory.G * x["moving"],
        abs=0.3 * theory.G * 0.02,  # N s, friction of two steps: when it begins is known to these
    ),
    "sit_to_stand": Fact(of("bears"), constant(75 * theory.G), 1e-6),
    "swing_up": Fact(of("work"), lambda x: 2 * x["MASS"] * theory.G * x["LENGTH"], 1e-5),
    # Pictures of results.
    "pendulum_in_clearance": Fact(of("impact"), constant(0.014278431), 1e-2),
    "triangular_slider": Fact(of("acceleration"), constant(1.0 / 0.5)),
    "worn_elbow": Fact(
        of("height"),
        constant(0.40 * np.sin(np.radians(-10)) + 0.35 * np.sin(np.radians(85))),
        2e-3,
    ),
}


def test_each_script_has_a_fact():
    assert SCRIPTS.keys() == FACTS.keys()


@pytest.mark.unit
@pytest.mark.parametrize("path", SCRIPTS.values(), ids=SCRIPTS)
def test_script_is_short(path):
    """It says what is seen, then does it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    title, body = tree.body[0], [x for x in tree.body[1:] if not isinstance(x, ast.ImportFrom)]
    lines = {line for x in body for y in ast.walk(x) if hasattr(y, "lineno") for line in [y.lineno]}
    assert len(ast.get_docstring(tree).splitlines()) >= 5, title
    assert len(lines) <= LONGEST


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", SCRIPTS)
def test_script_finds_what_theory_says(name, tmp_path, monkeypatch):
    """Films have two pictures a second here: `tests/test_animation.py` has all of them."""
    animate = animation.animate
    monkeypatch.setattr(animation, "animate", lambda *x, fps, **y: animate(*x, fps=2, **y))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    found, fact = runpy.run_path(str(SCRIPTS[name])), FACTS[name]
    assert np.asarray(fact.found(found)) == pytest.approx(
        np.asarray(fact.true(found)), rel=fact.rel, abs=fact.abs
    )
