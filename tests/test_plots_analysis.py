"""Figures of analysis hold the numbers of the run; a part of a run is that part."""

import numpy as np
import pytest
from typer.testing import CliRunner

from nsopt.analysis import (
    Crossing,
    Impacts,
    Strobe,
    mode_statistics,
    orbit,
    poincare,
    spectrum,
)
from nsopt.cli import BAD_INPUT, app
from nsopt.cli.plot import _cut, _find_section
from nsopt.plots import contact_modes, orbits, phase_portrait, poincare_map, spectra
from tests.plotted import holds, ran_clearance, ran_ideal, ran_stone


@pytest.fixture(scope="module")
def loose():
    return ran_clearance()


def test_a_phase_portrait_and_a_spectrum_are_those_of_the_run(loose):
    ax = phase_portrait(loose, x="rod.x", y="rod.vy").axes[0]
    assert holds(ax, loose["v"].sel(v_name="rod.vy").values)
    assert np.array_equal(ax.lines[0].get_xdata(), loose["q"].sel(q_name="rod.x").values)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rod.x [m]", "rod.vy [m/s]")
    assert holds(spectra(loose, of="rod.vy").axes[0], spectrum(loose, "rod.vy").values)


def test_a_poincare_map_has_every_point_of_its_section(loose):
    """Of the impacts by default."""
    for section in (None, Impacts(str(loose["contact"].values[0])), Strobe(5e-3)):
        ax = poincare_map(loose, section=section, x="rod.x", y="rod.vy").axes[0]
        (line,) = ax.lines
        known = poincare(loose, section or Impacts(), ["rod.x", "rod.vy"])
        assert len(known) > (isinstance(section, Strobe))
        assert np.array_equal(np.transpose(line.get_data()), known.values)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("rod.x [m]", "rod.vy [m/s]")
    with pytest.raises(ValueError, match=r"clearance never meets Crossing\(of='rod.x', level=9"):
        poincare_map(loose, section=Crossing("rod.x", level=9.0))


@pytest.mark.slow
def test_sections_of_the_command(loose, tmp_path):
    path = str(loose.save(tmp_path / "loose.nc"))
    words = ["plot", path, "--what", "poincare_map", "--x", "rod.x", "--y", "rod.vy", "--section"]
    for section, known in [
        ("impacts", Impacts()),
        ("0.005", Strobe(5e-3)),
        (str(loose["contact"].values[0]), Impacts(str(loose["contact"].values[0]))),
    ]:
        assert _find_section(section, loose) == known
    assert CliRunner().invoke(app, [*words, "0.005"]).exit_code == 0
    ideal = ran_ideal()
    turn = Crossing("hinge.angle", every=2 * np.pi, rising=False)  # as the rod falls
    assert _find_section("hinge", ideal) == _find_section("hinge.angle", ideal) == turn
    for section, told in (("door", "no section 'door': give a period [s], impacts"), ("0", "posi")):
        done = CliRunner().invoke(app, [*words, section])
        assert done.exit_code == BAD_INPUT
        assert told in done.stderr
    words[5] = "rod.w"
    done = CliRunner().invoke(app, [*words, "impacts"])
    assert done.exit_code == BAD_INPUT
    assert "no quantity 'rod.w'" in done.stderr


def test_every_point_of_an_orbit_has_the_colour_of_its_mode(loose):
    figure, known = orbits(loose, joint="hinge"), orbit(loose, "hinge")
    assert len(figure.axes) == len(known) == 2
    for ax, each in zip(figure.axes, known, strict=True):
        for mode, line in enumerate(ax.lines[2:]):
            order = {"free flight": 0, "lasting contact": 1, "impact": 2}
            chosen = each.offset[each.mode == order[line.get_label()]]
            assert np.array_equal(np.transpose(line.get_data()), chosen), mode


def test_bars_of_modes_fill_the_run_as_its_statistics_say(loose):
    bars = contact_modes(loose, joint="hinge").axes[0].collections
    span = np.ptp(loose["time"].values)
    names = list(loose["contact"].values)
    for k in range(len(names)):
        free, lasting, _ = bars[3 * k : 3 * k + 3]
        modes, h = loose["contact_mode"].values[1:, k], np.diff(loose["time"].values)
        for mode, shown in ((0, free), (1, lasting)):
            total = sum(np.ptp(path.vertices[:, 0]) for path in shown.get_paths())
            assert total == pytest.approx(h[modes == mode].sum(), abs=1e-12 * span)
    assert mode_statistics(loose)["hinge"].free < 1


def test_a_joint_that_is_not_there_is_refused(loose):
    with pytest.raises(ValueError, match="no bore or guide in joint 'door'"):
        orbits(loose, joint="door")
    with pytest.raises(ValueError, match="'door' on record in clearance; contacts are in hinge"):
        contact_modes(loose, joint="door")
    with pytest.raises(ValueError, match="stone has none"):
        orbits(ran_stone())


@pytest.mark.slow
def test_a_part_of_a_run_is_drawn_by_the_command(loose, tmp_path):
    part = _cut(loose, 0.02, 0.04)
    t = loose["time"].values
    assert np.array_equal(part["time"].values, t[(t >= 0.02) & (t <= 0.04)])
    path = str(loose.save(tmp_path / "loose.nc"))
    words = ["plot", path, "--from", "0.02", "--to", "0.04", "--what"]
    done = CliRunner().invoke(app, [*words, "orbits", "--joint", "hinge"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "loose_orbits.png").exists()
    assert CliRunner().invoke(app, [*words, "energies", "--joint", "x"]).exit_code == BAD_INPUT
    words[3] = "3"
    assert CliRunner().invoke(app, [*words, "energies"]).exit_code == BAD_INPUT
