"""Results: saved and opened without loss, told plainly, refused where they cannot be written."""

import json
import re
import subprocess
import sys

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

from nsopt import (
    Body,
    Compiled,
    Fixed,
    Frame,
    Mechanism,
    PaperStep,
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
from nsopt.blocks import largest
from nsopt.cli import BAD_INPUT, app
from nsopt.files import check_writable
from nsopt.plots.style import label
from nsopt.result import make_netcdf
from nsopt.stored import ATTRIBUTES, VARIABLES
from nsopt.stored_checks import check_complete, check_values
from nsopt.stored_hash import check_hash
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
        scheme=PaperStep(),
        solver=Solver(backend=Sqp()),
        parameters={"mass": 2.0},
        title="drop",
        progress=False,
    )


@pytest.fixture(scope="module")
def content(result):
    """The bytes of its file, for tests that change what the file holds."""
    return make_netcdf(result.data)


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


def test_what_rounding_leaves_of_forces_is_no_lasting_contact(result):
    data = result.data.copy(deep=True)
    data["lasting_force"][:] = 1e-14
    assert "no lasting contact" in summary(data)


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


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "force",
            r"but 'contact_force' \(time, contact, axis\) \[N\] contact force .*; there are h, q",
        ),
        ("kinetic_enrgy", r"but 'kinetic_energy' \(time\) \[J\]"),
        ("zzz", "there are h, q, v"),
    ],
)
def test_an_unknown_variable_names_the_nearest_and_lists_the_known(result, name, told):
    with pytest.raises(KeyError, match=f"no variable '{name}'[,;] {told}"):
        result[name]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"cannot write .*file/x\.nc"):
        check_writable(tmp_path / "file" / "x.nc")
    with pytest.raises(IsADirectoryError, match="folder"):
        check_writable(tmp_path)
    assert check_writable(tmp_path / "new.nc") == tmp_path / "new.nc"
    assert not (tmp_path / "new.nc").exists()


def test_a_result_left_in_its_file_says_the_same(result, tmp_path):
    """Also as dask arrays, of which only parts are in memory."""
    path = result.save(tmp_path / "x.nc")
    lazy = Result.open(path, lazy=True)
    assert lazy.summary() == result.summary()
    assert not lazy.data["q"].variable._in_memory
    parts = lazy.data.chunk(time=7)
    assert parts["q"].chunks[0][0] == 7
    energy = parts["total_energy"].mean().compute()
    assert float(energy) == pytest.approx(float(result["total_energy"].mean()), rel=1e-14)
    assert lazy.data.equals(result.data)


def test_the_summary_looks_at_blocks(result, monkeypatch):
    """Of one row each it is the same, by NumPy alone the largest of all."""
    whole = result.summary()
    monkeypatch.setattr(sys.modules["nsopt.blocks"], "BLOCK", 1)
    assert result.summary() == whole
    assert largest(result["contact_force"]) == np.nanmax(np.abs(result["contact_force"].values))


@pytest.mark.slow
def test_a_changed_number_is_found_by_the_hash(result, tmp_path):
    path = result.save(tmp_path / "x.nc")
    assert len(check_hash(path)) == 64
    assert "data_hash" not in Result.open(path).data.attrs
    again = Result.load(path).save(tmp_path / "y.nc")
    assert check_hash(again) == check_hash(path)  # of the data, not of the file
    changes = (
        lambda file: file["gap"].__setitem__((3, 0), np.nextafter(file["gap"][3, 0], 1)),
        lambda file: file.attrs.__setitem__("completed", np.int64(0)),
        lambda file: file["gap"].attrs.__setitem__("units", "mm"),
        lambda file: file["tried_texts"].__setitem__(0, "all is well"),
    )
    names = ["variable 'gap'", "attribute 'completed'"]
    names += ["variable 'gap'", "variable 'tried_texts'"]
    for k, change in enumerate(changes):
        broken = tmp_path / f"{k}.nc"
        broken.write_bytes(path.read_bytes())
        with h5py.File(broken, "r+") as file:
            change(file)
        told = rf"{k}.nc' are not those that were saved.*: {names[k]} changed"
        for read in (check_hash, Result.open):
            with pytest.raises(ValueError, match=told):
                read(broken)
        outcome = CliRunner().invoke(app, ["info", str(broken)])
        assert outcome.exit_code == BAD_INPUT
        assert outcome.stderr.startswith("error: the data of")
        assert len(outcome.stderr.splitlines()) == 1
    told = CliRunner().invoke(app, ["info", str(path)])
    assert f"as saved, sha256 {check_hash(path)}" in told.stdout


@pytest.mark.parametrize("write", [float, lambda x: np.full(1, x)], ids=["scalar", "array"])
def test_the_hash_is_the_same_however_a_number_is_written(result, tmp_path, write):
    """Versions of h5netcdf write a number as a scalar or as an array with one element."""
    path = result.save(tmp_path / "x.nc")
    with h5py.File(path, "r+") as file:
        file.attrs["h_max"] = write(result.data.attrs["h_max"])
    assert len(check_hash(path)) == 64


@pytest.mark.parametrize("name", [*VARIABLES, "time", "contact", "q_name"])
def test_a_missing_variable_is_one_clear_error(result, name):
    with pytest.raises(ValueError, match=rf"^variable '{name}' is missing"):
        check_complete(result.data.drop_vars(name))


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_a_missing_or_mistyped_attribute_is_one_clear_error(result, name):
    other = "many" if ATTRIBUTES[name] is not str else 3
    whole = result.data.attrs
    for attrs, fault in (
        ({k: v for k, v in whole.items() if k != name}, "is missing"),
        (whole | {name: other}, "must be"),
    ):
        changed = result.data.copy()
        changed.attrs = attrs
        with pytest.raises(ValueError, match=rf"^attribute '{name}' {fault}[^;]*$"):
            check_complete(changed)


@pytest.mark.parametrize("name", ["time", "q"])
def test_a_file_that_lacks_a_variable_is_no_whole_result(result, tmp_path, name):
    path = tmp_path / "x.nc"
    path.write_bytes(make_netcdf(result.data.drop_vars(name)))
    with pytest.raises(
        ValueError, match=rf"x.nc' is no whole result: variable '{name}' is missing"
    ):
        Result.open(path)


@pytest.mark.parametrize("name", ["axis", "contact", "gap", "tried"])
@pytest.mark.parametrize("fault", ["is a group", "has no dimension"])
def test_a_variable_that_became_something_else_is_named(content, tmp_path, name, fault):
    path = tmp_path / "x.nc"
    path.write_bytes(content)
    with h5py.File(path, "r+") as file:
        del file[name]
        file[name] = 3.0
        if fault == "is a group":
            del file[name]
            file.create_group(name)
    with pytest.raises(ValueError, match=f"variable '{name}' {fault}"):
        Result.open(path)


@pytest.mark.parametrize("name", ["nsopt_version", "completed"])
def test_a_file_that_lacks_or_mistypes_an_attribute_is_no_result(content, tmp_path, name):
    path = tmp_path / "x.nc"
    other = "many" if ATTRIBUTES[name] is not str else 3
    path.write_bytes(content)
    for change, fault in (
        (lambda attrs: attrs.__setitem__(name, other), f"'{name}' must be"),
        (lambda attrs: attrs.__delitem__(name), f"'{name}' is missing|something else"),
    ):
        with h5py.File(path, "r+") as file:
            change(file.attrs)
        with pytest.raises(ValueError, match=rf"x.nc' is .*({fault})"):
            Result.open(path)


def check_all(data):
    check_complete(data)
    check_values(data)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda data: data.assign(h=data["q"]), "variable 'h' is over"),
        (lambda data: data.assign(h=data["step_reason"]), "variable 'h' is of type"),
        (lambda data: data.isel(time=slice(0)), "variable 'time' is empty"),
        (lambda data: data.assign_attrs(outline="[1, "), "attribute 'outline' must be JSON"),
        (lambda data: data.assign_attrs(outline="[" * 10**5), "attribute 'outline' must be JSON"),
        (lambda data: data.assign_attrs(frames='[{"body": 7}]'), "attribute 'frames' must be JSON"),
        (lambda data: data.assign_attrs(parameters=""), "attribute 'parameters' must be JSON"),
        (lambda data: data.assign_attrs(parameters="[]"), "attribute 'parameters' must be JSON"),
        (lambda data: data.assign_attrs(gravity=[9.81]), "attribute 'gravity' has 1 entries"),
        (lambda data: data.assign_attrs(step_control=1), "attribute 'step_control' must be text"),
        (lambda data: data.isel(axis=slice(2)), "dimension 'axis' has 2 entries, not 3"),
        (lambda data: data.assign_coords(body=[1.0]), "variable 'body' is of type float64"),
        (lambda data: data.isel(time=slice(None, None, -1)), "variable 'time' does not rise"),
        (lambda data: data.assign_attrs(objective=1.0), "attribute 'violation' is missing"),
        (lambda data: data.assign(h=data["h"].assign_attrs(units=1)), "attribute 'units' of 'h'"),
        (lambda data: data.drop_attrs().assign_attrs(nsopt_version="1"), "; and "),
        (lambda data: data.assign_attrs(redundant_contacts=-1), "'redundant_contacts' must not be"),
        (lambda data: data.assign_attrs(h_max=np.nan), "attribute 'h_max' must be a number"),
        (lambda data: data.assign(v=data["v"] * np.nan), "variable 'v' has entries that are no"),
        (lambda data: data.assign(h=-data["h"]), "variable 'h' has entries that are negative"),
        (lambda data: data.assign(contact_mode=data["contact_mode"] + 7), "others than 0, 1, 2"),
        (lambda data: data.assign(total_energy=1 + data["total_energy"]), "'total_energy' is not"),
        (lambda data: data.assign(gap=-1 - data["gap"]), "'gap_violation' is not the depth"),
        (lambda data: data.assign(external_work=data["time"]), "'dissipated_energy' is not what"),
        (lambda data: data.assign(body_quaternion=2 * data["body_quaternion"]), "not of norm one"),
        (lambda data: data.assign(impulse=-1 - data["impulse"]), "'impulse' has .* negative"),
        (
            lambda data: data.assign(contact_slip=1 / (0 * data["contact_slip"])),
            "'contact_slip' has",
        ),
        (lambda data: data.assign(h=1.5 * data["h"]), "'h' is not what 'time' rises by"),
        (lambda data: data.assign(h=data["h"].assign_attrs(long_name=1)), "'long_name' of 'h'"),
    ],
)
def test_what_is_wrong_with_data_is_one_clear_error(result, change, fault):
    with pytest.raises(ValueError, match=fault) as told:
        check_all(change(result.data))
    assert len(str(told.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda data: data.isel(time=slice(0)), "variable 'time' is empty"),
        (lambda data: data.drop_attrs().assign_attrs(nsopt_version="1"), "; and "),
        (lambda data: data.assign(total_energy=1 + data["total_energy"]), "'total_energy' is not"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_clear_error(result, tmp_path, change, fault):
    path = tmp_path / "x.nc"
    path.write_bytes(make_netcdf(change(result.data)))
    outcome = CliRunner().invoke(app, ["info", str(path)])
    assert outcome.exit_code == BAD_INPUT
    assert len(outcome.stderr.splitlines()) == 1
    assert re.search(rf"x.nc' is no whole result: .*{fault}", outcome.stderr)


def test_what_is_over_no_dimension_is_named(content, tmp_path):
    path = tmp_path / "x.nc"
    path.write_bytes(content)
    with h5py.File(path, "r+") as file:
        file["more"] = np.zeros(3)
    with pytest.raises(ValueError, match=r"variable 'more', of type float64, is over no dimension"):
        Result.open(path)


def test_a_label_of_numbers_is_named(content, tmp_path):
    path = tmp_path / "x.nc"
    path.write_bytes(content)
    with h5py.File(path, "r+") as file:
        scale, size = file["body"].name, file["body"].size
        del file["body"]
        file[scale] = np.zeros(size)
    with pytest.raises(ValueError, match="variable 'body' is of type float64"):
        Result.open(path)


MEASURED = """
import sys
from nsopt.cli import app
try:
    app(["info", sys.argv[1]])
finally:
    print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory as Linux tells it")
def test_many_rows_are_told_in_little_memory(result, tmp_path):
    """Of 300 MB most are the program; the file has 225 MB."""
    n, steps = 500_000, result.data.sizes["time"] - 1
    to_and_fro = np.arange(n - 1) % (2 * steps)  # for no body moves without a velocity
    rows = np.append(0, 1 + np.minimum(to_and_fro, 2 * steps - 1 - to_and_fro))
    data = result.data.isel(time=rows).assign_coords(time=np.arange(n) * 1e-3)
    path = Result(data).save(tmp_path / "x.nc")
    assert path.stat().st_size > 2e8
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)], capture_output=True, text=True, check=True
    )
    *_, last = done.stdout.splitlines()
    assert float(last) < 300_000  # kB
    assert "as saved, sha256" in done.stdout


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


def test_a_run_has_the_name_of_its_mechanism_or_none(result):
    """By ``title`` or `Mechanism.name`; without one neither summary nor pictures invent it."""
    unnamed = Result(result.data.assign_attrs(title=""))
    assert unnamed.summary().splitlines()[0].split() == [
        "run",
        *result.summary().splitlines()[0].split()[2:],
    ]
    assert label(result) == f"drop, {label(unnamed)}"
