"""Pictures over the angle of a crank, and of single components."""

import numpy as np
import pytest
from typer.testing import CliRunner

from nsopt import Result, Solver, Sqp, StepBounds, Variational, load_problem, simulate
from nsopt.analysis import quantity
from nsopt.cli import BAD_INPUT, app
from nsopt.plots import (
    base_force,
    contact_forces,
    contact_modes,
    coordinates,
    energies,
    gaps,
    joint_accelerations,
    joint_coordinates,
    joint_forces,
    joint_torques,
    phase_portrait,
    spectra,
    velocities,
)
from tests.plotted import factor_of

OVER = [base_force, contact_forces, coordinates, energies, gaps]
OVER += [joint_accelerations, joint_coordinates, joint_forces, joint_torques, velocities]
TURNED = "main bearing.angle"


@pytest.fixture(scope="module")
def crank():
    """A slider-crank with clearance in its piston pin, over a quarter of a turn."""
    problem = load_problem("slider_crank_5000rpm")
    return simulate(
        problem.dynamics,
        problem.start,
        0.003,
        steps=StepBounds(1e-7, 2e-5),
        scheme=Variational(),
        solver=Solver(backend=Sqp()),
        title="crank",
        progress=False,
    )


@pytest.mark.parametrize("figure", OVER)
def test_the_same_curves_over_the_angle_of_the_crank(crank, figure):
    """Which turns evenly, by 5000 rpm."""
    plain, turned = figure(crank).axes, figure(crank, over="main bearing").axes
    angle = 5000 * 2 * np.pi / 60 * crank["time"].values
    count = 0
    for one, other in zip(plain, turned, strict=True):
        for before, after in zip(one.lines, other.lines, strict=True):
            assert np.array_equal(before.get_ydata(), after.get_ydata(), equal_nan=True)
            if len(before.get_xdata()) == len(angle):
                count += 1
                assert np.allclose(after.get_xdata(), angle, rtol=0, atol=1e-9)
        assert one.get_xlabel().replace("time [s]", f"{TURNED} [rad]") == other.get_xlabel()
    assert count
    assert any(TURNED in ax.get_xlabel() for ax in turned)


@pytest.mark.parametrize("sign", [1, -1])
def test_bars_of_modes_over_the_angle_of_a_crank_that_turns_either_way(crank, sign):
    data = crank.data.assign(q=sign * crank["q"])
    bars = contact_modes(Result(data), over=TURNED).axes[0].collections
    modes, turned = crank["contact_mode"].values[1:, 0], np.diff(quantity(crank, TURNED))
    for mode, shown in ((0, bars[0]), (1, bars[1])):
        spans = [np.ptp(path.vertices[:, 0]) for path in shown.get_paths()]
        assert sum(spans) == pytest.approx(turned[modes == mode].sum(), abs=1e-12)
    low, high = sorted([0, sign * turned.sum()])
    ends = [path.vertices[:, 0] for bar in bars for path in bar.get_paths()]
    assert all(low - 1e-2 < end.min() <= end.max() < high + 1e-2 for end in ends)


def test_bars_of_modes_need_an_angle_that_goes_one_way(crank):
    back = crank.data.assign(q=np.cos(4 * crank["q"]))
    time = back["time"].values[np.argmin(back["q"].values[:, 0])]
    with pytest.raises(ValueError, match=f"angle of crank turns back at t = {time:.6g} s"):
        contact_modes(Result(back), over="main bearing")


def test_components_of_forces_and_velocities(crank):
    """In the plane, so that z of a pin is its axis."""
    pin = list(crank["joint"].values).index("piston pin")
    force = crank["joint_reaction"].values[:, pin]
    known = {"x": force[:, 0], "y": force[:, 1], "z": force[:, 2], "axial": force[:, 2]}
    known["radial"] = known["size"] = np.hypot(force[:, 0], force[:, 1])
    for name, values in known.items():
        ax = contact_forces(crank, joint="piston pin", component=name).axes[0]
        (line,) = ax.lines
        shown = line.get_ydata() / factor_of(ax, "N")
        lasting = ~(crank["impact_impulse"].values > 0).any(axis=1)
        assert np.isfinite(shown[1:]).tolist() == lasting[1:].tolist()
        assert np.allclose(shown[lasting][1:], values[lasting][1:], rtol=1e-12, atol=1e-9), name
    axes = velocities(crank, component="size").axes
    speeds = np.linalg.norm(crank["body_velocity"].values, axis=2)
    for ax, speed in zip(axes, speeds.T, strict=True):
        assert np.allclose(ax.lines[0].get_ydata(), factor_of(axes[0], "m/s") * speed)


@pytest.mark.slow
def test_what_there_is_not_is_named(crank, tmp_path):
    path = str(crank.save(tmp_path / "crank.nc"))
    for words, told in [
        (["contact_forces", "--joint", "door"], "'door': one of main bearing, crank pin"),
        (["contact_forces", "--component", "up"], "'up': one of x, y, z, size, axial, radial"),
        (["velocities", "--component", "axial"], "'axial': one of x, y, z, size"),
        (["energies", "--component", "x"], "--component is of contact_forces, velocities, not of"),
        (["energies", "--over", "rod"], "'rod' on record in crank; there are main bearing.angle"),
        (["overview", "--over", "main bearing"], "--over is of contact_forces, velocities"),
    ]:
        done = CliRunner().invoke(app, ["plot", path, "--what", *words])
        assert done.exit_code == BAD_INPUT
        assert done.stderr.count("error: ") == 1
        assert told in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["crank.nc"]
    words = ["contact_forces", "--joint", "piston pin", "--component", "radial"]
    call = ["plot", path, "--what", *words, "--over", "main bearing", "--from", "0.001"]
    assert CliRunner().invoke(app, call).exit_code == 0
    assert (tmp_path / "crank_contact_forces.png").is_file()


def test_what_is_round_off_of_others_is_flat(crank):
    """The crank turns evenly, in the plane, and loses nothing but in impacts."""
    bearing, pin, guide = joint_accelerations(crank).axes
    assert np.ptp(bearing.lines[0].get_ydata()) < 1e-6 * np.ptp(bearing.get_ylim())
    assert bearing.get_ylabel() == "[rad/s²]"
    for ax in (pin, guide):
        assert np.ptp(ax.lines[0].get_ydata()) > 0.5 * np.ptp(ax.get_ylim())
    about_x = base_force(crank).axes[1]
    moment = about_x.lines[0].get_ydata()[1:]  # unknown in the step of an impact
    assert np.nanmax(moment) - np.nanmin(moment) < 1e-6 * np.ptp(about_x.get_ylim())


def test_a_phase_portrait_is_of_what_moves_unevenly_by_default(crank):
    (ax,) = phase_portrait(crank).axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("crank pin.angle [rad]", "crank pin.rate [rad/s]")
    assert "crank pin.rate" in spectra(crank).axes[0].get_ylabel()
