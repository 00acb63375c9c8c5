"""Results: saved and opened without loss, told plainly, refused where they cannot be written."""

import json

import numpy as np
import pytest

from nsopt import (
    Body,
    Compiled,
    Fixed,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Result,
    Solver,
    Sqp,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from nsopt.files import check_writable
from nsopt.summary import summary


@pytest.fixture(scope="module")
def result():
    """A ball of 2 kg dropped from 5 cm onto a plane."""
    ball = Body("ball", Parameter("mass", 1.0), position=(0, 0, 0.05), point_mass=True)
    floor = PlaneContact("floor", Frame(None), Frame(ball))
    dynamics = assemble(Mechanism([ball]), [floor], gravity=(0, 0, -9.81))
    return simulate(
        dynamics,
        duration=0.2,
        steps=StepBounds(1e-3, 2e-3),
        solver=Solver(backend=Sqp()),
        parameters={"mass": 2.0},
        title="drop",
        progress=False,
    )


def test_saving_and_opening_loses_nothing(result, tmp_path):
    opened = Result.open(result.save(tmp_path / "deep" / "drop.nc"))
    assert opened.data.identical(result.data) or opened.data.equals(result.data)
    assert set(opened.data.attrs) == set(result.data.attrs)
    assert opened.completed
    assert opened.name == "drop"
    assert opened.summary() == result.summary()
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["drop.nc"]


def test_energy_balance_and_weight(result):
    data = result.data
    assert data["total_energy"].values[0] == pytest.approx(2.0 * 9.81 * 0.05)
    assert data["dissipated_energy"].values[-1] == pytest.approx(2.0 * 9.81 * 0.05, abs=1e-12)
    assert data["contact_force"].values[-1, 0] == pytest.approx([0, 0, 2.0 * 9.81], rel=1e-9)
    assert json.loads(data.attrs["parameters"]) == {"mass": 2.0}


def test_step_variables_are_nan_at_the_start(result):
    for name in ("h", "impulse", "contact_force", "iterations", "solve_time", "motion_residual"):
        values = result[name].values
        assert np.all(np.isnan(values[0])), name
        assert np.all(np.isfinite(values[1:])), name


def test_every_variable_has_units_and_a_meaning(result):
    for name, variable in result.data.data_vars.items():
        assert {"units", "long_name"} <= set(variable.attrs), name


def test_table_has_a_column_for_each_component(result):
    table = result.to_dataframe()
    assert table.index.name == "time"
    assert np.all(table["contact_force[floor, z]"].values[1:] >= 0)
    assert np.all(table["q[ball.z]"].values == result["q"].values[:, 2])
    assert "step_reason" in table


def test_an_unknown_variable_lists_the_known(result):
    with pytest.raises(KeyError, match=r"no variable 'force'.*contact_force"):
        result["force"]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"cannot write .*file/x\.nc"):
        check_writable(tmp_path / "file" / "x.nc")
    with pytest.raises(IsADirectoryError, match="folder"):
        check_writable(tmp_path)
    assert check_writable(tmp_path / "new.nc") == tmp_path / "new.nc"
    assert not (tmp_path / "new.nc").exists()


@pytest.mark.parametrize("every", [1.5, 0, -1, "2", 2.0])
def test_a_part_of_a_step_cannot_be_kept(every):
    """Refused before the run, which would take a thousand steps."""
    dynamics = assemble(Mechanism([Body("ball", 1.0, point_mass=True)]))
    with pytest.raises(ValueError, match=f"store_every must be a whole number.* got {every!r}"):
        simulate(dynamics, steps=StepBounds(1e-3, 1e-3), store_every=every)


def test_a_title_that_no_file_can_hold_is_refused():
    dynamics = assemble(Mechanism([Body("ball", 1.0, point_mass=True)]))
    with pytest.raises(ValueError, match="title must be text that files can hold"):
        simulate(dynamics, steps=StepBounds(1e-3, 1e-3), title="a\0b")


@pytest.mark.parametrize("position", [(0.3, 0.2, 0.1), (0.0, 0.0, 0.0)])
def test_round_off_of_a_mechanism_at_rest_is_no_warning(position):
    """All is fixed: the energy that is gained is round-off of that which is there."""
    body = Body("block", 3.0, (1, 1, 1), position=position)
    fixed = Fixed("weld", Frame(None, position), Frame(body))
    dynamics = assemble(Mechanism([body], [fixed]), gravity=(0, 0, -9.81))
    data = simulate(dynamics, duration=0.1, steps=StepBounds(1e-3, 1e-3), scheme=Variational(),
                    solver=Compiled(), progress=False)  # fmt: skip
    gained = 5e-14 * np.linspace(0, 1, data.data.sizes["time"])
    for added in (0 * gained, gained):
        told = data.data.assign(dissipated_energy=data["dissipated_energy"] - added)
        assert "WARNING" not in summary(told)
    assert "were added" in summary(told.assign(dissipated_energy=-1e8 * data["h"].fillna(0)))


def test_a_simulation_has_no_objective(result):
    assert not result.is_optimum
    assert result.stop_reason == ""
    with pytest.raises(AttributeError, match="'drop' is a simulation, which has no objective"):
        result.objective  # noqa: B018 (reading it is what is refused)
