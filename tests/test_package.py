"""The package as installed: its version, and its types as a user's checker reads them."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import nsopt

ROOT = Path(__file__).parents[1]

USER = '''"""An arm from a file, and a rod on a worn hinge."""

from pathlib import Path

import numpy as np

from nsopt import *
from nsopt.plots import contact_paths, overview, save
from nsopt.problem import problem_folder
from nsopt.robots import inverse_dynamics, load_urdf, resistances
from nsopt.trajectory import (
    ActuatorLimits,
    EndAt,
    Horizon,
    JointResistance,
    Quintic,
    Smoothness,
    StartAt,
    optimize,
)

GRAVITY = (0.0, 0.0, -9.81)


def fall(clearance: float) -> Result:
    rod = Body("rod", 1.0, (0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0))
    pin, bushing = Frame(GROUND), Frame.at(rod, (0.0, 0.0, 0.0))
    law = ContactLaw(restitution=0.4, friction=0.1)
    hinge = PlanarRevoluteClearance(
        "hinge", pin, bushing, clearance=Parameter("c", clearance), radius=0.01, law=law
    )
    loose = Mechanism([rod], [Planar("plane", pin, bushing)], "relative")
    return simulate(assemble(loose, [hinge], GRAVITY), duration=1.0, steps=StepBounds(1e-6, 1e-3))


def reach() -> Result:
    robot = load_urdf(problem_folder() / "arm_7dof" / "arm_7dof.urdf")
    q0, q1, rest = np.full(7, 0.3), np.full(7, -0.3), np.zeros(7)
    inverse_dynamics(robot)(q0, rest, rest)
    return optimize(
        assemble(robot, resistances(robot), gravity=GRAVITY),
        Horizon(2.0, steps=100),
        costs=[JointResistance(), Smoothness(weight=10.0)],
        conditions=[StartAt(q0, rest), EndAt(q1, rest), ActuatorLimits()],
        guess=Quintic(q0, q1),
    )


def work(folder: Path) -> float:
    loose, best = fall(1e-3), reach()
    for name, figure in {"paths": contact_paths(loose), "optimum": overview(best)}.items():
        save(figure, folder / f"{name}.png")
    again = Result.open(loose.save(folder / "rod.nc"))
    share: dict[str, float] = best.detailed_cost
    return float(again["gap"].min()) + sum(share.values())


# The checker knows types of nsopt only if these are errors to it.
Body("rod", "heavy")  # type: ignore[arg-type]
StepBounds(1e-6, 1e-3).h  # type: ignore[attr-defined]
'''


def test_version_is_stated_once():
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert nsopt.__version__ == stated["version"]


@pytest.mark.slow
def test_types_reach_a_strict_checker(tmp_path, monkeypatch, pytestconfig):
    pytest.importorskip("mypy")
    for name in ("MYPYPATH", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    # What it knows of other packages is kept from run to run, as compiled code is.
    kept = getattr(pytestconfig, "cache", None)
    cache = kept.mkdir("nsopt-types") if kept else tmp_path / "types"
    options = ["--strict", "--config-file=", f"--cache-dir={cache}"]
    call = [sys.executable, "-m", "mypy", *options, "user.py"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
