"""PointOnCurve: a point guided by a curve of the plane."""

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Compiled,
    Frame,
    Mechanism,
    PointOnCurve,
    Variational,
    assemble,
)
from tests.catalog import ON_CURVE
from tests.states import couple, near, run

G = 9.81


def test_it_is_closed_all_along_the_curve():
    c = couple(ON_CURVE)
    for angle in np.linspace(0, 2 * np.pi, 7):
        place = [-0.24 + 0.3 * np.cos(angle), -0.18 + 0.3 * np.sin(angle), 0.0]
        turned = np.array([*place, *near(1, 0.0, 1.0)[3:]])
        assert c.at("closure", c.placed(turned)) == pytest.approx(0, abs=1e-14)


def test_a_bead_on_a_parabola_keeps_its_energy():
    """m (1 + 4 x^2) xdot^2 / 2 + m g x^2 on y = x^2, so the speed at the bottom is known."""
    bead = Body("bead", 2.0, point_mass=True, position=(0.5, 0.25, 0.0))
    wire = PointOnCurve("wire", Frame(GROUND), Frame(bead), lambda x, y: y - x**2)
    d = assemble(Mechanism([bead], [wire]), gravity=(0, -G, 0))
    result = run(d, 0.5, 1e-3, scheme=Variational(), solver=Compiled())
    x, y, _ = np.squeeze(result["body_position"].values).T
    assert y == pytest.approx(x**2, abs=1e-9)
    k = int(np.argmin(np.abs(x)))
    assert abs(x[k]) < 3e-3
    vx, vy, _ = np.squeeze(result["body_velocity"].values)[k]
    assert np.hypot(vx, vy) == pytest.approx(np.sqrt(2 * G * (0.25 - y[k])), abs=1e-5)


@pytest.mark.parametrize(
    ("curve", "error", "message"),
    [
        (1.0, TypeError, "must be a function of x and y"),
        (lambda x, y: (x, y), ValueError, "must return one number"),
        (lambda x, y: 0.0, ValueError, "must depend on x and y"),
    ],
)
def test_it_refuses_what_is_no_curve(curve, error, message):
    body = Body("bead", 1.0, point_mass=True)
    with pytest.raises(error, match=f"curve of PointOnCurve 'wire' {message}"):
        PointOnCurve("wire", Frame(GROUND), Frame(body), curve)
