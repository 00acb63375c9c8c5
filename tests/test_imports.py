"""What an import of nsopt does not load, so that short commands stay short."""

import subprocess
import sys

import pytest

HEAVY = {
    "IPython",
    "PIL",
    "collada",
    "dask",
    "distributed",
    "h5netcdf",
    "h5py",
    "importlib.metadata",
    "joblib",
    "llvmlite.binding",
    "matplotlib",
    "mujoco",
    "numba",
    "pandas",
    "pinocchio",
    "scipy.interpolate",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.spatial",
    "sympy",
    "tqdm",
    "viser",
    "xarray",
}
"""Modules that take long to import and are of use to a part of the work only."""

LATER = {"nsopt.elements", "nsopt.mechanics", "nsopt.mpcc", "nsopt.schemes", "nsopt.simulation"}
"""Packages that only a mechanism needs."""

IMPORTS = ["from nsopt import *", "import nsopt.cli.run", "import nsopt.robots"]


@pytest.mark.slow
@pytest.mark.parametrize("statement", IMPORTS)
def test_heavy_modules_are_left_to_what_uses_them(statement):
    code = f"{statement}; import sys; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "casadi" in loaded  # the names are those of modules
    assert not HEAVY & loaded, f"{statement} loads {', '.join(sorted(HEAVY & loaded))}"


def test_the_list_of_problems_loads_little():
    code = (
        "import sys; sys.argv = ['nsopt', 'list']\n"
        "from nsopt.cli import app\n"
        "app(standalone_mode=False)\n"
        "print('modules', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *problems, modules = done.stdout.splitlines()
    assert any("revolute_pendulum" in line for line in problems)
    heavy = HEAVY - {"importlib.metadata"}  # typer has it
    assert not {*heavy, *LATER} & {*modules.split()}
