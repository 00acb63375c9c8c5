"""The import rule of the design: downward only. Also small modules, docstrings, no local paths."""

import ast
import re
import statistics
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# From low to high: a package may import itself and everything above it in this list ...
LAYERS = [
    "algebra",
    "mpcc",
    "mechanics",
    "elements",
    "robots",
    "mobility",
    "summary",
    "result",
    "stepping",
    "trajectory",
    "problem",
    "plots",
    "animation",
    "sweep",
    "cli",
    "__main__",
    "nsopt",  # nsopt/__init__.py, the public names: for users and for the problems
    "problems",
]
# ... but these only what is named here.
ONLY = {
    "algebra": [],
    "mpcc": ["algebra"],
    "summary": [],
    "result": ["summary"],
    "elements": [
        "algebra",
        "mechanics.frame",
        "mechanics.element",
        "mechanics.freedom",
        "mechanics.parameter",
        "mechanics.checks",
    ],
}
MAX_LINES = 400
LOCAL_PATH = re.compile(r"(?<![\w.~/:})\]-])/(?:work|root|tmp|home|Users)/")
NOT_SOURCE = {"results", "dist", "build", "__pycache__"}


def modules():
    """Map each module's dotted name to its file."""
    files = [f for top in ("nsopt", "problems") for f in sorted((ROOT / top).rglob("*.py"))]
    return {dotted(file.relative_to(ROOT)): file for file in files}


def dotted(path):
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer(module):
    """Return the layer of a dotted name; None for what is not ours."""
    top, _, rest = module.partition(".")
    if top == "nsopt":
        return rest.partition(".")[0] or "nsopt"
    return "problems" if top == "problems" else None


def imports(module, source, *, package, known):
    """Yield (line, module imported) for each import statement, also those inside functions."""
    parents = module.split(".") if package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = parents[: len(parents) - node.level + 1] if node.level else []
            target = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                full = f"{target}.{alias.name}"
                yield node.lineno, full if full in known else target


def refusal(module, target):
    """Say why a module may not import a target; empty where it may."""
    who, whom = layer(module), layer(target)
    if whom is None or who == whom:
        return ""
    for name in (who, whom):
        if name not in LAYERS:
            return f"nsopt.{name} has no place in LAYERS here: is it part of the design?"
    allowed = ONLY.get(who, LAYERS[: LAYERS.index(who)])
    inside = target.removeprefix("nsopt.")
    if any(inside == name or inside.startswith(name + ".") for name in allowed):
        return ""
    return f"{who} may import only {', '.join(allowed) or 'nothing of nsopt'}"


def broken_imports(module, source, *, place, package=False, known=()):
    found = dict.fromkeys(imports(module, source, package=package, known=known))
    reasons = [(line, target, refusal(module, target)) for line, target in found]
    return [f"{place}:{line} imports {to}: {why}" for line, to, why in reasons if why]


def report(broken):
    return "\n".join(["", *broken])


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


def test_every_module_has_a_layer():
    lost = sorted({f"nsopt/{name}" for name in map(layer, modules()) if name not in LAYERS})
    assert not lost, f"no place in LAYERS of tests/test_layers.py for {', '.join(lost)}"


def test_imports_go_downward_only():
    known = modules()
    broken = [
        line
        for module, file in known.items()
        for line in broken_imports(
            module,
            file.read_text(encoding="utf-8"),
            place=file.relative_to(ROOT).as_posix(),
            package=file.name == "__init__.py",
            known=known,
        )
    ]
    assert not broken, report(broken)


@pytest.mark.parametrize(
    ("module", "source", "allowed"),
    [
        ("nsopt.elements.x", "import nsopt.stepping.y", False),
        ("nsopt.elements.x", "from nsopt.mechanics.frame import Frame", True),
        ("nsopt.elements.x", "from nsopt.mechanics import frame", True),
        ("nsopt.elements.x", "from nsopt.mechanics import Mechanism", False),
        ("nsopt.elements.x", "from nsopt.mechanics.frames import Frame", False),
        ("nsopt.elements.x", "from ..mechanics import frame", True),
        ("nsopt.elements.clearance.x", "from ...mpcc import Mpcc", False),
        ("nsopt.elements.clearance.x", "from ..joints import Revolute", True),
        ("nsopt.algebra.x", "import casadi, numpy.linalg", True),
        ("nsopt.algebra.x", "def f():\n    from nsopt.result import Result", False),
        ("nsopt.mpcc.x", "from nsopt.algebra import screws", True),
        ("nsopt.mpcc.x", "from nsopt import mechanics", False),
        ("nsopt.mechanics.x", "from nsopt.mpcc import Mpcc", True),
        ("nsopt.mechanics.x", "from nsopt.elements import joints", False),
        ("nsopt.stepping.x", "from nsopt.result import Result", True),
        ("nsopt.result", "from nsopt.stepping import simulate", False),
        ("nsopt.trajectory.x", "from nsopt.stepping import simulate", True),
        ("nsopt.stepping.x", "from nsopt.trajectory import optimize", False),
        ("nsopt.cli", "from . import plots", True),
        ("nsopt.plots", "from nsopt import simulate", False),
        ("nsopt.cli", "import problems.revolute_pendulum", False),
        ("nsopt.stepping.x", "import nsopt.helpers", False),
        ("problems.four_bar.model", "from nsopt import simulate", True),
    ],
)
def test_the_rule_itself(module, source, allowed):
    known = {"nsopt.mechanics", "nsopt.mechanics.frame", "nsopt.algebra.screws", "nsopt.plots"}
    known |= {"nsopt.elements.joints"}
    broken = broken_imports(module, source, place="here", known=known)
    assert (not broken) == allowed, report(broken)


def test_modules_are_small():
    sizes = {
        file.relative_to(ROOT).as_posix(): len(file.read_text(encoding="utf-8").splitlines())
        for file in modules().values()
    }
    large = [f"{name} has {n} lines" for name, n in sizes.items() if n > MAX_LINES]
    median = statistics.median(sizes.values()) if sizes else 0
    assert not large, report([*large, f"at most {MAX_LINES}; the median is {median:g}"])


def test_public_modules_have_docstrings():
    bare = []
    for name, file in modules().items():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        public = not any(p.startswith("_") and p != "__main__" for p in name.split("."))
        if public and tree.body and not ast.get_docstring(tree):
            bare.append(f"{file.relative_to(ROOT).as_posix()} has no docstring")
    assert not bare, report(bare)


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
