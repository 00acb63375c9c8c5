"""Build wheel and sdist, install the wheel in bare environments, and use it there.

python3 dev.py package                            with the newest dependencies there are
python3 dev.py package --oldest                   with the oldest that pyproject.toml allows
python3 dev.py package --python 3.11 3.13 --tests tests/test_result.py tests/mechanics

The oldest are the lowest versions of which a wheel for that Python exists. Needs uv.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
TRIED = [
    "list",
    "run revolute_pendulum --t-end 0.05 --out motion.nc",
    "plot motion.nc --what contact_forces --out forces.png",
    "view motion.nc --out motion.html",
    "optimize double_integrator --out optimum.nc",
    "info optimum.nc",
]
"""What is tried of the command line; all but ``list`` read or write files."""
LEFT = {"motion.nc", "motion.png", "forces.png", "motion.html", "optimum.nc", "optimum.png"}
TESTERS = [
    *("pytest>=9", "pytest-randomly>=3.15", "hypothesis>=6.100"),
    *("dask>=2024.1", "distributed>=2024.1", "sympy>=1.12"),
]
UV = shutil.which("uv") or ""
CLEAN = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}


def call(*command: str | Path, folder: Path = ROOT) -> None:
    """Run a command, and end all if it fails."""
    print(f"$ {' '.join(map(str, command))}", file=sys.stderr, flush=True)
    done = subprocess.run([*map(str, command)], cwd=folder, env=CLEAN, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def build() -> tuple[Path, Path]:
    """Return the wheel, built from the sdist, and the sdist."""
    shutil.rmtree(DIST, ignore_errors=True)
    call(UV, "build", "--quiet", "--out-dir", DIST, ROOT)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    for file in (wheel, sdist):
        print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB")
    return wheel, sdist


def oldest() -> list[str]:
    """Return what makes an installer choose the oldest dependencies.

    All of them are asked for by name: of those that only the wheel asks for it takes the newest.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["viz"]]
    return ["--resolution", "lowest-direct", *asked]


def install(wheel: Path, python: str, pins: list[str], place: Path) -> Path:
    """Return the folder of commands of a new environment that holds the wheel."""
    call(UV, "venv", "--quiet", "--no-project", "--python", python, place)
    commands = place / ("Scripts" if os.name == "nt" else "bin")
    into = [UV, "pip", "install", "--quiet", "--python", str(place), "--only-binary", ":all:"]
    call(*into, *pins, f"nsopt[viz] @ {wheel.as_uri()}")
    call(UV, "pip", "list", "--python", place)
    return commands


def use(commands: Path, folder: Path) -> None:
    """Call the command line in an empty folder, and look that it left its files there."""
    folder.mkdir()
    for words in TRIED:
        call(commands / "nsopt", *words.split(), folder=folder)
    missing = LEFT - {path.name for path in folder.iterdir() if path.stat().st_size}
    if missing:
        sys.exit(f"nsopt did not write {', '.join(sorted(missing))}")


def test(commands: Path, sdist: Path, pins: list[str], tests: list[str], place: Path) -> None:
    """Run tests of the sdist by the environment."""
    with tarfile.open(sdist) as archive:
        archive.extractall(place, filter="data")
    (folder,) = place.iterdir()
    call(UV, "pip", "install", "--quiet", "--python", commands.parent, *TESTERS)
    # Deprecations: those of old versions within new ones.
    quiet = ["-W", "ignore::DeprecationWarning"] if pins else []
    tier = ["-m", "not slow", "-q", "-p", "no:cacheprovider", *quiet]
    call(commands / "python", "-P", "-m", "pytest", *tier, *tests, folder=folder)


def main() -> None:
    """Do all of it once."""
    parser = argparse.ArgumentParser("dev.py package", description="see .ci/package.py")
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="versions or paths")
    parser.add_argument("--oldest", action="store_true", help="the oldest dependencies")
    parser.add_argument(
        "--tests", nargs="+", default=[], help="tests to run there, none if left out"
    )
    asked = parser.parse_args()
    pins = oldest() if asked.oldest else []
    wheel, sdist = build()
    for python in asked.python:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            commands = install(wheel, python, pins, place / "environment")
            use(commands, place / "empty")
            if asked.tests:
                test(commands, sdist, pins, asked.tests, place / "sdist")


if __name__ == "__main__":
    if not UV:
        sys.exit("dev.py package needs uv: .venv/bin/pip install uv")
    main()
