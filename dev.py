"""Run, test and lint nsopt in a virtual environment of its own; only Python >= 3.11 is needed.

python3 dev.py run [options]        simulate the revolute pendulum into results/, anew each time
python3 dev.py test [pytest args]   run the tests in parallel, but for those marked slow
python3 dev.py test --all [...]     run all tests
python3 dev.py test -m unit [...]   run the quick ones that compile nothing, while one types
python3 dev.py docs [options]       build the documentation, docs/_build/html/index.html
python3 dev.py notebooks [names]    execute the lessons anew and write them as notebooks/*.ipynb
python3 dev.py package [options]    build the package, install it elsewhere and use it there; --help
python3 dev.py lint                 ruff check, ruff format --check, mypy, subjects of commits
python3 dev.py nsopt ARGS...        any call of the command line, in the current folder
python3 dev.py install              only make .venv

The first call makes .venv beside this file and installs nsopt into it; later calls use it as it is.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT

if sys.version_info < (3, 11):  # noqa: UP036 (this is what tells the users of an older Python)
    have = sys.version.split()[0]
    sys.exit(f"nsopt needs Python 3.11 or newer; this is {have} ({sys.executable})")

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = str(VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
STAMP = VENV / "nsopt-installed"
DOCS_STAMP = VENV / "nsopt-docs-installed"
# Nothing may leak into .venv (ROS sets PYTHONPATH), and no install go to the user's folder.
# Bytecode is kept, whatever images of containers set: else each process compiles what it imports.
LEFT_OUT = ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE")
ENV = {k: v for k, v in os.environ.items() if k not in LEFT_OUT}
ENV["PIP_USER"] = "0"
PROBE = "import sys; print(sys.prefix); print(sys.version_info.minor); print(sys.version)"
NO_INSTALLER = f"""nsopt: nothing here can install packages into {VENV}:
no working uv, and {sys.executable} has no ensurepip, no virtualenv and no pip >= 22.3.
Install one (Debian, Ubuntu: apt install python3.{sys.version_info.minor}-venv), run this again."""


def quiet(*command: str) -> tuple[bool, str]:
    """Run a command silently; tell whether it succeeded, and what it printed."""
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=ENV, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, check=False
        )
    except OSError as error:
        return False, str(error)
    return done.returncode == 0, done.stdout.decode(errors="replace")


def say(text: str) -> None:
    """Print to stderr, so that stdout is the command's own."""
    print(text, file=sys.stderr, flush=True)


def expected_stamp() -> str:
    """Return what the stamp of a finished install reads; empty if .venv does not work."""
    ok, answer = quiet(PYTHON, "-I", "-c", PROBE)
    prefix, minor, build = answer.splitlines()[:3] if ok else ("", "0", "")
    if Path(prefix).resolve() != VENV.resolve() or int(minor) < 11:
        return ""
    project = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    return f"{project}\n{ROOT}\n{build}\n"


def create(uv: str | None) -> None:
    """Make an empty .venv, in place of one that does not work."""
    ways = [[sys.executable, "-m", "venv", "--without-pip"], [sys.executable, "-m", "virtualenv"]]
    if uv:
        ways.insert(0, [uv, "venv", "--quiet", "--no-project", "--python", sys.executable])
    told = ""
    for way in ways:
        if VENV.is_symlink() or VENV.is_file():
            VENV.unlink()
        elif VENV.exists():
            shutil.rmtree(VENV)
        told += quiet(*way, str(VENV))[1]
        if expected_stamp():
            return
    sys.exit(f"{told}\nnsopt: could not make {VENV}; is python3-venv, virtualenv or uv installed?")


def find_pip() -> list[str]:
    """Return a pip that installs into .venv: its own, put there if need be, or the system's."""
    own = [PYTHON, "-m", "pip"]
    for seed in (
        [],
        [PYTHON, "-Im", "ensurepip", "--upgrade", "--default-pip"],
        [sys.executable, "-m", "virtualenv", "--quiet", str(VENV)],
    ):
        if (not seed or quiet(*seed)[0]) and quiet(*own, "--version")[0]:
            return own
    system = [sys.executable, "-m", "pip", "--python", PYTHON]
    if quiet(*system, "--version")[0]:
        return system
    sys.exit(NO_INSTALLER)


def install(extra: str = "dev", stamp: Path = STAMP) -> None:
    """Make .venv hold nsopt (editable, with tools), unless its stamp says that it does."""
    expected = expected_stamp()
    if expected and stamp.is_file() and stamp.read_text(encoding="utf-8") == expected:
        return
    say(f"installing nsopt[{extra}] into .venv (once, about a minute) ...")
    stamp.unlink(missing_ok=True)
    uv = shutil.which("uv")
    if not expected:
        create(uv)
    project = ["install", "--quiet", "--editable", f".[{extra}]"]
    ok = False
    if uv:
        ok, told = quiet(uv, "pip", *project, "--python", PYTHON)
        if not ok:
            say("\n".join([*told.splitlines()[-5:], "uv could not install it; trying pip ..."]))
    if not ok:
        ok, told = quiet(*find_pip(), *project, "--no-input", "--disable-pip-version-check")
        if not ok:
            tail = "\n".join(told.splitlines()[-20:])
            sys.exit(f"{tail}\nnsopt: the install failed (above); run this again to retry.")
    if stamp == STAMP:
        say("compiling the kernels (once, half a minute) ...")
        kernels = "from nsopt.kernels import compile_kernels; compile_kernels()"
        compiled = f"{kernels}; from nsopt.mpcc import Ldlt; Ldlt().options"
        ok, told = quiet(PYTHON, "-c", compiled)
        if not ok:
            sys.exit(f"{told}\nnsopt: its kernels do not compile (above).")
    stamp.write_text(expected_stamp(), encoding="utf-8")


def parallel_tests(*args: str) -> list[str]:
    """Return a call of pytest: all cores, what is not slow unless ``--all``; the user's go last."""
    given = [arg for arg in args if arg != "--all"]
    tier = [] if "--all" in args else ["-m", "not slow"]
    return ["pytest", "-n", "logical", "--dist", "worksteal", *tier, *given]


# Below the bounds of the problem itself, which are the paper's: so steps end at impacts.
FIRST_RUN = ["revolute_pendulum", "--h-min", "1e-6", "--h-max", "2e-4"]


LINTERS = ["ruff check .", "ruff format --check .", "mypy"]

# Every warning is an error, such as a link that leads nowhere; all are told.
SITE = ["sphinx", "-W", "--keep-going", "-n", "-q", "-j", "auto", "-b", "html"]


def main(command: str, *args: str) -> int:
    """Install where needed, run the command in .venv, and return its exit code."""
    # Anew each time, but only where it always is.
    elsewhere = any(arg.partition("=")[0] == "--out" for arg in args)
    place = [] if elsewhere else ["--out", "results/revolute_pendulum.nc", "--overwrite"]
    run = ["-m", "nsopt", "run", *FIRST_RUN, *place]
    programs: dict[str, list[list[str]]] = {
        "run": [[*run, *args]],
        "test": [["-m", *parallel_tests(*args)]],
        "docs": [["-m", *SITE, *args, "docs", "docs/_build/html"]],
        "notebooks": [["docs/execute_notebooks.py", *args]],
        "package": [[".ci/package.py", *args]],
        "lint": [*(["-m", *tool.split()] for tool in LINTERS), [".ci/subjects.py"]],
        "nsopt": [["-m", "nsopt", *args]],
        "install": [],
    }
    if command not in programs or (args and command in ("lint", "install")):
        print(__doc__.strip())
        return 0 if command in ("-h", "--help") else 2
    install()
    if command in ("docs", "notebooks"):
        install("docs", DOCS_STAMP)
    # -P: as with an installed command, the current folder is no place to import from.
    calls = [[PYTHON, "-P", *program] for program in programs[command]]
    if command != "nsopt":
        os.chdir(ROOT)
    if len(calls) == 1 and os.name == "posix":
        os.execve(PYTHON, calls[0], ENV)  # becomes the command: signals and exit code are its own
    codes = [subprocess.run(call, env=ENV, check=False).returncode for call in calls]
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    try:
        sys.exit(main(*(sys.argv[1:] or ["--help"])))
    except KeyboardInterrupt:
        sys.exit(130)
