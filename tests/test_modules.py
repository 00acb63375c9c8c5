"""Modules, their sizes, their folders, and what no file may name."""

import re
import subprocess
from collections import Counter

from tests.test_layers import ROOT, modules, report

MAX_LINES = 400
MAX_MODULES = 24
LOCAL_PATH = re.compile(r"(?<![\w.~/:})\]-])/(?:work|root|tmp|home|Users)/")
NOT_SOURCE = {"results", "dist", "build", "__pycache__"}


def tracked_files():
    """List what git tracks; without git, every file that is not hidden or produced."""
    try:
        git = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        names = git.stdout.split("\0")[:-1] if git.returncode == 0 else []
    except OSError:
        names = []
    if not names:
        inside = (f.relative_to(ROOT) for f in ROOT.rglob("*"))
        names = [f for f in inside if not any(p[0] == "." or p in NOT_SOURCE for p in f.parts[:-1])]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def test_modules_are_small():
    sizes = {
        file.relative_to(ROOT).as_posix(): len(file.read_text(encoding="utf-8").splitlines())
        for file in tracked_files()
        if file.suffix == ".py"
    }
    large = [f"{name} has {n} lines" for name, n in sizes.items() if n > MAX_LINES]
    assert not large, report([*large, f"at most {MAX_LINES}"])


def test_a_folder_holds_modules_that_belong_together():
    folders = Counter(file.parent for file in modules().values() if file.name != "__init__.py")
    halls = [
        f"{x.relative_to(ROOT)} has {n} modules" for x, n in folders.items() if n > MAX_MODULES
    ]
    assert not halls, report([*halls, f"at most {MAX_MODULES} modules: part it into packages"])


def test_no_file_names_a_local_path():
    found = []
    for file in tracked_files():
        content = file.read_bytes()
        if b"\0" in content:
            continue
        lines = content.decode("utf-8", errors="replace").splitlines()
        place = file.relative_to(ROOT).as_posix()
        found += [
            f"{place}:{n}: {x.strip()}" for n, x in enumerate(lines, 1) if LOCAL_PATH.search(x)
        ]
    assert not found, report(found)
