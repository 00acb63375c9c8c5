"""Pictures of a mechanism in several cases: what is drawn is what the results hold."""

import numpy as np
import pytest
from typer.testing import CliRunner

from nsopt import joint_loads, rms_loads
from nsopt.cli import app
from nsopt.plots import (
    joint_accelerations,
    joint_coordinates,
    joint_forces,
    joint_rms,
    link_shapes,
    programmed_paths,
    programmed_rates,
)
from tests.plotted import drawn, factor_of, holds, ran_led


@pytest.fixture(scope="module")
def cases():
    return ran_led(bends=False), ran_led(bends=True)


@pytest.mark.slow
def test_coordinates_and_accelerations_have_a_panel_each(cases):
    for figure, entries, variable in (
        (joint_coordinates(*cases), "q_name", "q"),
        (joint_accelerations(*cases), "v_name", "acceleration"),
    ):
        for result in cases:
            panels = {ax.get_title(): ax for ax in figure.axes}
            for k, name in enumerate(result[entries].values):
                ax = panels[name]
                unit = "rad" if variable == "q" else "rad/s²"
                assert holds(ax, result[variable].values[:, k], factor_of(ax, unit))
    named = joint_coordinates(*cases, names=["hinge1.angle"])
    assert [ax.get_title() for ax in named.axes] == ["hinge1.angle"]


def test_recorded_accelerations_are_rates_of_the_velocities(cases):
    t, v, a = (cases[0][name].values for name in ("time", "v", "acceleration"))
    rates, means = np.diff(v, axis=0) / np.diff(t)[:, None], (a[1:] + a[:-1]) / 2
    assert rates == pytest.approx(means, abs=1e-2 * np.max(np.abs(rates)))


def test_forces_and_their_root_mean_squares(cases):
    figure = joint_forces(*cases, joints=["hinge0", "hinge1"])
    for joint, ax in zip(("hinge0", "hinge1"), figure.axes, strict=True):
        for result in cases:
            force = joint_loads(result, [joint])["force"].values[:, 0]
            assert holds(ax, force, factor_of(ax, "N"))
    table = rms_loads({"rigid": cases[0], "bends": cases[1]})
    axial, normal = joint_rms(*cases).axes
    for ax, part in ((axial, "axial"), (normal, "normal")):
        heights = sorted(bar.get_height() for bar in ax.patches)
        known = sorted(np.ravel(table.xs(part, axis=1, level="part")) * factor_of(ax, "N"))
        assert heights == pytest.approx(known, abs=1e-12)


def test_paths_go_along_the_programme(cases):
    figure = programmed_paths(*cases)
    for result in cases:
        t = result["time"].values
        s = t / 0.1
        x = 1.2 - 0.2 * (10 * s**3 - 15 * s**4 + 6 * s**5)
        assert any(np.allclose(y, x, atol=1e-9) for _, y in drawn(figure.axes[3]))


def test_rates_are_those_of_the_programme(cases):
    """Along x the quintic of a corner, of 0.2 m in 0.1 s; nothing along z."""
    figure = programmed_rates(*cases)
    axes = dict(zip((f"{x}{c}" for c in "xyz" for x in "va"), figure.axes, strict=True))
    for result in cases:
        s = result["time"].values / 0.1
        v, a = -0.2 * 30 * (s * (1 - s)) ** 2 / 0.1, -0.2 * 60 * s * (1 - s) * (1 - 2 * s) / 0.1**2
        for ax, known, unit in ((axes["vx"], v, "m/s"), (axes["ax"], a, "m/s²")):
            off = [np.max(np.abs(y / factor_of(ax, unit) - known)) for _, y in drawn(ax)]
            assert min(off) < 1e-3 * np.max(np.abs(known))
    with pytest.raises(ValueError, match="no Programmed or Corridor 'arm' in rigid"):
        programmed_rates(*cases, name="arm")


def test_joints_of_the_command_are_those_that_are_drawn(cases, tmp_path, monkeypatch):
    """Bars of two joints; a picture of one joint refuses two."""
    monkeypatch.chdir(tmp_path)
    cases[0].save("rigid.nc")
    chosen = ["--joint", "hinge0", "--joint", "hinge1"]
    for words, told in (
        (["joint_rms", *chosen], "hinge1"),
        (["contact_forces", *chosen], "contact_forces shows one joint at a time"),
        (["joint_rms", "--joint", "knee"], "no joint 'knee' in 'rigid': one of hinge0"),
        (["energies", "--joint", "knee"], "--joint is of contact_forces, joint_torques, joint_f"),
    ):
        out = tmp_path / f"{len(told)}.svg"
        done = CliRunner().invoke(app, ["plot", "rigid.nc", "--what", *words, "--out", str(out)])
        text = out.read_text() if done.exit_code == 0 else done.stderr
        assert told in text
        assert done.exit_code or "tip" not in text


def test_shape_of_a_link_is_what_its_joints_turn(cases):
    bends = cases[1]
    figure = link_shapes(*cases, times=[0.01])
    ((along, off),) = drawn(figure.axes[0])
    names = [str(x) for x in bends["q_name"].values]
    q = bends["q"].values[-1]
    turned = [
        q[k] for k, name in enumerate(names) if name.startswith("link0_bend") and name.endswith("z")
    ]
    # Rods of 1/4, 1/2 and 1/4 m.
    angles = np.cumsum([0.0, *turned])
    rods = np.array([0.25, 0.5, 0.25]) * [np.cos(angles), np.sin(angles)]
    points = np.vstack([[0, 0], np.cumsum(rods, axis=1).T])
    chord = points[-1] / np.linalg.norm(points[-1])
    assert along == pytest.approx(points @ chord, abs=1e-9)
    assert off == pytest.approx(np.abs(points @ [-chord[1], chord[0]]), abs=1e-9)
    assert np.max(off) > 1e-5


@pytest.mark.slow
def test_what_there_is_not_is_refused_by_name(cases):
    with pytest.raises(ValueError, match="no flexible link 'boom': one of link0"):
        link_shapes(*cases, link="boom")
    with pytest.raises(ValueError, match="no Programmed or Corridor 'arm' in rigid"):
        programmed_paths(*cases, name="arm")
    with pytest.raises(ValueError, match="no joint 'knee': one of hinge0"):
        joint_forces(*cases, joints=["knee"])
    with pytest.raises(ValueError, match="no coordinate 'knee'"):
        joint_coordinates(*cases, names=["knee"])
