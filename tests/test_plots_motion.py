"""Figures of motions: forces and impulses, what two runs differ by, coordinates, velocities."""

import numpy as np
import pytest

from nsopt import AppliedForce, Frame, Result
from nsopt.plots import (
    contact_forces,
    coordinates,
    deviations,
    joint_coordinates,
    positions,
    velocities,
)
from nsopt.plots.impulses import impulses_apart
from nsopt.plots.style import label
from tests.plotted import (
    drawn,
    factor_of,
    holds,
    ran_clearance,
    ran_ideal,
    ran_led,
    ran_stone,
    run,
    tight,
)

clearance, ideal, stone = (
    pytest.fixture(ran, scope="module") for ran in (ran_clearance, ran_ideal, ran_stone)
)


@pytest.fixture(scope="module")
def led():
    return ran_led(bends=True)


def forces(figure):
    return [ax for ax in figure.axes if ax.get_ylabel().startswith("F")]


def components(figure):
    return [ax.get_ylabel()[4] for ax in forces(figure)]


def test_forces_of_clearance_and_ideal_joint_are_overlaid(clearance, ideal):
    figure = contact_forces(clearance, ideal)
    (across,) = forces(contact_forces(clearance, ideal, component="z"))
    for a, ax in enumerate([*forces(figure), across]):
        for result in (clearance, ideal):
            force = result["joint_reaction"].values[:, 0, a]
            struck = (result["impact_impulse"].values > 0).any(axis=1)
            assert holds(ax, np.where(struck, np.nan, force), factor_of(ax, "N"))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert (
        texts
        == [label(clearance), label(ideal)]
        == ["clearance, PaperStep (h 1 to 2 ms)", "ideal, PaperStep (h 1 to 2 ms)"]
    )


def test_a_component_that_is_zero_in_all_joints_is_told_and_not_drawn(clearance):
    pressed = run("pressed", [tight], [lambda body: AppliedForce("side", Frame(body), (0, 0, 1.0))])
    assert np.nanmax(np.abs(clearance["joint_reaction"].values[:, :, 2])) < 1e-12
    figure = contact_forces(clearance)
    assert components(figure) == ["x", "y"]
    assert "zero along Z" in figure.get_suptitle()
    assert components(contact_forces(clearance, component="z")) == ["z"]
    for results in ((pressed,), (clearance, pressed)):
        figure = contact_forces(*results)
        assert components(figure) == ["x", "y", "z"]
        assert "zero" not in figure.get_suptitle()


def test_impulses_of_impacts_are_apart_from_lasting_forces(clearance):
    """Together they are all that the joint carried, and both axes have zero at one height."""
    force, impulse = impulses_apart(clearance, clearance["joint_reaction"].values)
    struck = (clearance["impact_impulse"].values > 0).any(axis=1)
    assert struck.any()
    assert np.isnan(force[struck]).all()
    assert np.isnan(impulse[~struck]).all()
    h = clearance["h"].values[:, None, None]
    whole = np.nan_to_num(clearance["joint_reaction"].values * h)
    assert np.nan_to_num(force * h) + np.nan_to_num(impulse) == pytest.approx(whole, abs=1e-15)
    figure = contact_forces(clearance)
    stems = [ax for ax in figure.axes if ax.get_ylabel().startswith("o impulse")]
    assert stems
    for right in stems:
        (left,) = (ax for ax in forces(figure) if ax.bbox.bounds == right.bbox.bounds)
        a, b = [-x.get_ylim()[0] / np.ptp(x.get_ylim()) for x in (left, right)]
        assert a == pytest.approx(b)
        own = impulse[struck, 0, forces(figure).index(left)]
        assert holds(right, own, factor_of(right, "N s"))


def test_deviations_are_from_the_last_result(clearance, ideal):
    """At the times of the first, turned as the vector product of its axes says."""
    figure = deviations(clearance, ideal)
    t, known = clearance["time"].values, ideal["time"].values
    for k, axis in enumerate("xyz"):
        ax = figure.axes[2 * k]
        assert ax.get_ylabel().startswith(axis)
        ((at, values),) = drawn(ax)
        part, reference = (r["body_position"].values[:, 0, k] for r in (clearance, ideal))
        factor = factor_of(ax, "m")
        assert at == pytest.approx(t)
        # The chord of a fall of g is off by g h^2 / 8.
        off = part - np.interp(t, known, reference)
        assert values / factor == pytest.approx(off, abs=9.81 * 2e-3**2 / 8 + 1e-12)
    ((_, turned),) = drawn(figure.axes[5])
    a, b = (
        2 * np.arctan2(q[:, 3], q[:, 0]) for q in (e[:, 0] for e in quaternions(clearance, ideal))
    )
    off = a - np.interp(t, known, b)
    assert turned / factor_of(figure.axes[5], "rad") == pytest.approx(off, abs=5e-5)
    assert np.max(np.abs(off)) > 1e-4


def quaternions(*results):
    return [result["body_quaternion"].values for result in results]


@pytest.mark.slow
def test_deviations_need_a_reference_with_the_same_bodies(clearance, led):
    with pytest.raises(ValueError, match="the last is the reference"):
        deviations(clearance)
    with pytest.raises(ValueError, match="shares no body"):
        deviations(clearance, led)


def test_bodies_in_a_plane_have_angles_in_place_of_euler_parameters(ideal, clearance):
    """That of the rod is the angle of its hinge, which is read from both frames."""
    angle = ideal.sel(freedom="hinge.angle")["joint_coordinate"].values
    figure = coordinates(ideal)
    assert [ax.get_title() for ax in figure.axes][:2] == ["Angles", "Lengths"]
    assert not any("Euler" in ax.get_title() for ax in figure.axes)
    ((_, turned),) = drawn(figure.axes[0])
    assert turned / factor_of(figure.axes[0], "rad") == pytest.approx(angle, abs=1e-12)
    names = [line.get_label() for line in figure.axes[2].lines]
    assert names == ["rod.wz"]
    panels = {ax.get_title(): ax for ax in joint_coordinates(ideal, clearance).axes}
    assert "rod.angle" in panels
    assert not any(title.startswith("rod.e") for title in panels)
    tilted = clearance.data["q"].copy()
    tilted[:, 4] = 1e-3  # e1
    both = joint_coordinates(ideal, Result(clearance.data.assign(q=tilted)))
    titles = {ax.get_title() for ax in both.axes}
    assert {f"rod.e{k}" for k in range(4)} < titles
    assert "rod.angle" not in titles


def test_velocities_and_positions_are_those_of_the_centre_of_mass(stone):
    for a, ax in enumerate(velocities(stone).axes):
        assert holds(ax, stone["v"].values[:, a], factor_of(ax, "m/s"))
    path, height = positions(stone).axes
    x, y = drawn(path)[0]
    assert np.allclose(x, stone["body_position"].values[:, 0, 0], rtol=1e-12)
    # A free fall; the paper's step is Euler's, off by h t g / 2.
    t = stone["time"].values
    assert np.allclose(y, 2 * t - 9.81 / 2 * t**2, atol=9.81 / 2 * 0.5 * 1e-2)
    assert np.all(drawn(height)[0][1] == 0)
    assert np.ptp(height.get_ylim()) > 0.01  # round-off does not fill it
