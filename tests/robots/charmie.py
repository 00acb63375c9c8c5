"""CHARMIE, and its mechanism in a configuration given by the closed forms alone."""

import importlib
import sys

import numpy as np
import pytest

from nsopt import assemble
from nsopt.problem import problem_folder
from tests.states import quaternion

SOURCES = ("_geometry", "_closed_forms", "_robot", "_validation")
GRAVITY = np.array([0.0, 0.0, -9.81])


def _import():
    """The problem's own modules, as it imports them itself."""
    sys.path.insert(0, str(problem_folder() / "charmie"))
    try:
        return [importlib.import_module(name) for name in SOURCES]
    finally:
        sys.path.pop(0)


geo, forms, model, study = _import()
ROBOT = model.charmie()
DYNAMICS = assemble(ROBOT.mechanism, ROBOT.elements, gravity=GRAVITY)
HALVES = [geo.LEFT, geo.RIGHT]
halves = pytest.mark.parametrize("half", HALVES, ids=["left", "right"])


def along(direction, across):
    z = direction / np.linalg.norm(direction)
    return np.column_stack([across, np.cross(z, across), z])


def poses(joints):
    """Centre of mass and axes of all bodies, by name."""
    at = forms.places(joints)
    bodies = {
        f"body_{link.label}": (at[link.label].point(np.array(link.centre)), at[link.label].R)
        for link in geo.LINKS
    }
    R = at["3"].R
    for name, p, q in (
        ("4d", at["3"].point(geo.D3), at["4"].point(geo.E4)),
        ("5d", at["4"].point(geo.F4), at["5"].point(geo.G5)),
        ("5s", at["4"].point(geo.S4), at["5"].point(geo.S5)),
    ):
        axes = along(q - p, R[:, 0])
        bodies |= {f"aux_{name}_1": (p, axes), f"aux_{name}_2": (q, axes)}
    for half in HALVES:
        points = forms.balancing_points(half, joints["4"])
        pivot, anchor, bar, on_bar, slider = (
            at["3"].point(p)
            for p in (half.pivot, half.anchor, points.bar, points.spring, points.slider)
        )
        axes = along(anchor - on_bar, R[:, 1])
        bodies |= {
            f"aux_{half.label}a": (pivot, along(bar - pivot, R[:, 1])),
            f"aux_{half.label}c": (slider, R),
            f"aux_{half.label}c_rod": (slider, R),
            f"aux_{half.label}b_1": (on_bar, axes),
            f"aux_{half.label}b_2": (anchor, axes),
        }
    return bodies


def configuration(joints):
    """The mechanism's coordinates q at coordinates of the main joints."""
    at = poses(joints)
    bodies = [at[body.name] for body in DYNAMICS.mechanism.bodies]
    return np.concatenate([[*r, *quaternion(R)] for r, R in bodies])
