"""dev.py: which installer it takes, and when it installs. Nothing here touches the network."""

import argparse
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

DEV = Path(__file__).resolve().parents[1] / "dev.py"


@pytest.fixture
def dev(tmp_path):
    """A dev.py in a project folder of its own."""
    shutil.copy(DEV, tmp_path / "dev.py")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    spec = importlib.util.spec_from_file_location("dev_copy", tmp_path / "dev.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Machine:
    """Stands in for `quiet`: commands that need something the machine lacks fail."""

    def __init__(self, dev, *present):
        self.dev, self.present, self.calls = dev, set(present), []

    def __call__(self, *command):
        command = ["uv" if Path(part).name == "uv" else part for part in command]
        own = command[0] == self.dev.PYTHON
        text = " ".join(command[1:])
        self.calls.append(" ".join(command))
        if "sys.prefix" in text:
            made = self.dev.VENV.is_dir() and "works" in self.present
            return made, f"{self.dev.VENV}\n12\n3.12.0\n"
        if command[0] == "uv":
            need = "uv venv" if command[1] == "venv" else "uv install"
        elif "-Im ensurepip" in text:
            need = "ensurepip"
        elif "-m virtualenv" in text:
            need = "virtualenv"
        elif "-m venv" in text:
            need = "venv"
        elif "--version" in text:
            need = "pip in .venv" if own else "system pip"
        else:
            need = "network"
        if need not in self.present:
            return False, f"no {need}"
        if need in ("venv", "uv venv", "virtualenv"):
            self.dev.VENV.mkdir(exist_ok=True)
            self.present.add("works")
        if need in ("ensurepip", "virtualenv"):
            self.present.add("pip in .venv")
        return True, ""


@pytest.mark.parametrize(
    ("present", "last"),
    [
        ("venv ensurepip virtualenv system-pip network", "PY -m pip install"),
        ("venv virtualenv system-pip network", "PY -m pip install"),
        ("venv system-pip network", "SYS -m pip --python PY install"),
        ("virtualenv network", "PY -m pip install"),
        ("uv-venv uv-install venv ensurepip network", "uv pip install"),
        ("uv-venv ensurepip network", "PY -m pip install"),
        ("venv system-pip network uv-install", "uv pip install"),
    ],
)
def test_installer(dev, monkeypatch, present, last):
    machine = Machine(dev, *(p.replace("-", " ") for p in present.split()))
    monkeypatch.setattr(dev, "quiet", machine)
    monkeypatch.setattr(dev.shutil, "which", lambda _: "uv" if "uv-" in present else None)
    dev.install()
    installs = [call for call in machine.calls if " install " in call]
    plain = installs[-1].replace(dev.PYTHON, "PY").replace(sys.executable, "SYS")
    assert plain.startswith(last)
    machine.calls.clear()
    dev.install()
    assert len(machine.calls) == 1, "a second call only looks at the stamp"
    (dev.ROOT / "pyproject.toml").write_text("[project]\nname = 'changed'\n")
    dev.install()
    assert any(" install " in call for call in machine.calls)


def test_the_documentation_needs_an_install_of_its_own(dev, monkeypatch):
    machine = Machine(dev, "venv", "ensurepip", "network")
    monkeypatch.setattr(dev, "quiet", machine)
    monkeypatch.setattr(dev.shutil, "which", lambda _: None)
    for extra, stamp in [("dev", dev.STAMP), ("docs", dev.DOCS_STAMP)] * 2:
        dev.install(extra, stamp)
    installs = [call for call in machine.calls if " install " in call]
    assert [call.split("--editable ")[1].split()[0] for call in installs] == [".[dev]", ".[docs]"]


@pytest.mark.parametrize("present", ["venv", "venv ensurepip", "", "uv-venv"])
def test_a_failed_install_leaves_no_stamp(dev, monkeypatch, present):
    monkeypatch.setattr(dev, "quiet", Machine(dev, *(p.replace("-", " ") for p in present.split())))
    monkeypatch.setattr(dev.shutil, "which", lambda _: "uv" if "uv-" in present else None)
    with pytest.raises(SystemExit) as stop:
        dev.install()
    assert "nsopt" in str(stop.value)
    assert not dev.STAMP.exists()


@pytest.mark.parametrize(
    ("args", "mark", "rest"),
    [
        ([], "not slow", []),
        (["--all"], "", []),
        (["-m", "unit", "-n0"], "unit", ["-n0"]),
        (["--all", "tests/mpcc"], "", ["tests/mpcc"]),
    ],
)
def test_tiers(dev, args, mark, rest):
    """Of options given twice pytest takes the last: the user's."""
    pytest_, *options = dev.parallel_tests(*args)
    given = argparse.ArgumentParser()
    given.add_argument("-m", default="")
    known, others = given.parse_known_args(options)
    assert pytest_ == "pytest"
    assert known.m == mark
    assert others[len(others) - len(rest) :] == rest
    assert "--all" not in options


@pytest.mark.parametrize("args", [[], ["--out", "mine.nc"], ["--out=mine.nc"]])
def test_run_replaces_its_own_result_alone(dev, monkeypatch, args):
    called = []

    def becomes(_python, call, _environment):
        called.extend(call)
        raise SystemExit

    monkeypatch.setattr(dev, "install", lambda: None)
    monkeypatch.setattr("os.execve", becomes)
    monkeypatch.chdir(dev.ROOT)  # where main goes
    with pytest.raises(SystemExit):
        dev.main("run", *args)
    assert ("--overwrite" in called) == (not args)
    assert ("results/revolute_pendulum.nc" in called) == (not args)


@pytest.mark.parametrize(
    ("command", "extras"), [("notebooks", ["dev", "docs"]), ("package", ["dev"])]
)
def test_scripts_beside_it_are_called_with_what_they_need(dev, monkeypatch, command, extras):
    installed, called = [], []

    def becomes(_python, call, _environment):
        called.extend(call)
        raise SystemExit

    monkeypatch.setattr(dev, "install", lambda extra="dev", stamp=None: installed.append(extra))
    monkeypatch.setattr("os.execve", becomes)
    monkeypatch.chdir(dev.ROOT)
    with pytest.raises(SystemExit):
        dev.main(command, "given")
    *_, script, last = called
    assert (DEV.parent / script).is_file()
    assert last == "given"
    assert installed == extras


@pytest.mark.parametrize(("args", "code"), [([], 0), (["--help"], 0), (["tset"], 2)])
def test_usage(dev, args, code):
    done = subprocess.run(
        [sys.executable, dev.ROOT / "dev.py", *args], capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert "python3 dev.py test" in done.stdout
    assert not dev.VENV.exists()


def test_an_old_python_is_told_so_in_one_line(dev):
    code = "import sys; sys.version_info = (3, 10, 1); exec(open('dev.py').read())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=dev.ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("nsopt needs Python 3.11 or newer; this is ")
    assert len(done.stderr.splitlines()) == 1
