"""The import rules of the design: downward, through doors, in no circle. And no halls."""

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).resolve().parents[1]

# From low to high: a package may import itself and everything above it in this list ...
LAYERS = [
    "interrupt",
    "parallel",
    "versions",
    "files",
    "claim",
    "kept_code",
    "culprit",
    "arrays",
    "algebra",
    "leaves",
    "kernels",
    "parameter",
    "checks",
    "mpcc",
    "mechanics",
    "elements",
    "robots",
    "mobility",
    "blocks",
    "contact_modes",
    "stored",
    "caveats",
    "summary",
    "stored_hash",
    "stored_relations",
    "stored_checks",
    "hold",
    "sampled",
    "motion_files",
    "result",
    "loads",
    "schemes",
    "simulation",
    "trajectory",
    "problem",
    "analysis",
    "plots",
    "animation",
    "sweep",
    "cli",
    "__main__",
    "nsopt",  # nsopt/__init__.py, the public names: for users and for the problems
    "problems",
    "notebooks",
]
# ... but these only what is named here: of mechanics, elements see the contracts alone.
ONLY = {
    "interrupt": [],
    "versions": [],
    "parallel": ["interrupt"],
    "files": [],
    "claim": ["files"],
    "kept_code": ["files"],
    "culprit": [],
    "algebra": ["arrays"],
    "leaves": ["algebra", "arrays", "kept_code"],
    "kernels": ["arrays"],
    "parameter": [],
    "blocks": ["arrays"],
    "caveats": ["algebra", "arrays", "blocks", "contact_modes", "stored"],
    "contact_modes": ["arrays", "blocks"],
    "summary": ["arrays", "blocks", "caveats", "contact_modes"],
    "stored": [],
    "stored_checks": ["stored", "stored_hash", "stored_relations"],
    "stored_relations": ["contact_modes"],
    "stored_hash": [],
    "hold": ["arrays"],
    "sampled": ["arrays", "checks", "hold"],
    "motion_files": ["arrays"],
    "result": [
        *("caveats", "checks", "files", "hold", "motion_files", "sampled", "stored"),
        *("stored_checks", "stored_hash", "summary"),
    ],
    "loads": ["algebra", "arrays", "checks", "contact_modes", "result"],
    "elements": [
        "algebra",
        "arrays",
        "parameter",
        "checks",
        "mechanics.model.element",
        "mechanics.model.frame",
        "mechanics.model.freedom",
        "mechanics.model.gap",
        "mechanics.model.law",
        "mechanics.model.state",
    ],
}
TO_RENAME = {"Derivatives", "Parameter"}


def modules():
    """Map each module's dotted name to its file."""
    tops = ("nsopt", "problems", "notebooks")
    files = [f for top in tops for f in sorted((ROOT / top).rglob("*.py"))]
    return {dotted(file.relative_to(ROOT)): file for file in files}


def dotted(path):
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer(module):
    """Return the layer of a dotted name; None for what is not ours."""
    top, _, rest = module.partition(".")
    if top == "nsopt":
        return rest.partition(".")[0] or "nsopt"
    return top if top in LAYERS else None


def doors(known):
    """Map each package of nsopt to what its ``__init__`` exports: name to the module it is from."""
    return {
        module: {
            alias.asname or alias.name: node.module
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for module, file in known.items()
        if file.name == "__init__.py"
    }


def imports(module, source, *, package, known, exported):
    """Yield (line, module named, module it is from) for each import, also inside functions.

    Imports for type checkers count like any other. A name that a package exports is from the module
    that defines it.
    """
    parents = module.split(".") if package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = parents[: len(parents) - node.level + 1] if node.level else []
            target = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                full = f"{target}.{alias.name}"
                if alias.name in exported.get(target, {}):
                    yield node.lineno, target, exported[target][alias.name]
                else:
                    named = full if full in known else target
                    yield node.lineno, named, named


def refusal(module, named, origin):
    """Say why a module may not import from another; empty where it may."""
    who, whom = layer(module), layer(named)
    if whom is None or who == whom:
        return ""
    for name in (who, whom):
        if name not in LAYERS:
            return f"nsopt.{name} has no place in LAYERS here: is it part of the design?"
    allowed = ONLY.get(who, LAYERS[: LAYERS.index(who)])
    if not any(within(origin, f"nsopt.{name}") for name in allowed if name != "nsopt"):
        below = whom == "nsopt" and "nsopt" in allowed
        if not below:
            return f"{who} may import only {', '.join(allowed) or 'nothing of nsopt'}"
    if named.count(".") > 1:
        return f"other packages import from nsopt.{whom}, not from its modules"
    return ""


def past_door(module, named, exported):
    """Say why a module may not import from inside a package within its own; empty where it may.

    A package that exports nothing has no door: its modules are imported by their names.
    """
    parts = named.split(".")
    for k in range(3, len(parts)):
        package = ".".join(parts[:k])
        if exported.get(package) and not within(module, package):
            return f"import from {package}, not from its modules"
    return ""


def within(module, package):
    return module == package or module.startswith(package + ".")


def broken_imports(module, source, *, place, package=False, known=(), exported=None):
    imported = imports(module, source, package=package, known=known, exported=exported or {})
    reasons = [
        (line, named, refusal(module, named, origin) or past_door(module, named, exported or {}))
        for line, named, origin in imported
    ]
    lines = [f"{place}:{line} imports {named}: {why}" for line, named, why in reasons if why]
    return list(dict.fromkeys(lines))


def circles(graph):
    """Return the sets of modules that import each other, in a graph of module to modules."""
    reached = {module: closure(module, graph) for module in graph}
    groups = {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in graph
        if module in reached[module]
    }
    return sorted(map(sorted, groups))


def closure(module, graph):
    """Return all modules that one imports, directly or by way of others."""
    reached, todo = set(), [module]
    while todo:
        for target in graph[todo.pop()]:
            if target not in reached:
                reached.add(target)
                todo.append(target)
    return reached


def report(broken):
    return "\n".join(["", *broken])


def test_every_module_has_a_layer():
    lost = sorted({f"nsopt/{name}" for name in map(layer, modules()) if name not in LAYERS})
    assert not lost, f"no place in LAYERS of tests/test_layers.py for {', '.join(lost)}"


@pytest.mark.slow
def test_imports_go_downward_through_doors():
    known = modules()
    exported = doors(known)
    broken = [
        line
        for module, file in known.items()
        for line in broken_imports(
            module,
            file.read_text(encoding="utf-8"),
            place=file.relative_to(ROOT).as_posix(),
            package=file.name == "__init__.py",
            known=known,
            exported=exported,
        )
    ]
    assert not broken, report(broken)


@pytest.mark.slow
def test_no_modules_import_each_other():
    known = modules()
    exported = doors(known)
    graph = {
        module: {
            named
            for _, named, _ in imports(
                module,
                file.read_text(encoding="utf-8"),
                package=file.name == "__init__.py",
                known=known,
                exported=exported,
            )
            if named in known and named != module
        }
        for module, file in known.items()
    }
    assert not circles(graph), report(" -> ".join(circle) for circle in circles(graph))


@pytest.mark.slow
def test_no_two_classes_share_a_name():
    classes = {}
    for module, file in modules().items():
        if layer(module) not in ("problems", "notebooks"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    classes.setdefault(node.name, []).append(module)
    twice = {name: m for name, m in classes.items() if len(m) > 1 and name not in TO_RENAME}
    shared = [f"{name} in {', '.join(m)}" for name, m in sorted(twice.items())]
    assert not shared, report(shared)


def test_a_circle_is_found():
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": set()}
    assert circles(graph) == [["a", "b", "c"]]
    assert circles({**graph, "c": set()}) == []


@pytest.mark.parametrize(
    ("module", "source", "allowed"),
    [
        ("nsopt.elements.x", "import nsopt.simulation", False),
        ("nsopt.elements.x", "from nsopt.mechanics import Frame", True),
        ("nsopt.elements.x", "from nsopt.mechanics.model.frame import Frame", False),
        ("nsopt.elements.x", "from nsopt.mechanics import frame", False),
        ("nsopt.elements.x", "from nsopt.mechanics import Mechanism", False),
        ("nsopt.elements.x", "from nsopt.mechanics import Frames", False),
        ("nsopt.elements.x", "from ..mechanics import Frame", True),
        ("nsopt.elements.x", "import nsopt.mechanics", False),
        ("nsopt.elements.clearance.x", "from ...mpcc import Mpcc", False),
        ("nsopt.elements.clearance.x", "from ..joints import Revolute", True),
        ("nsopt.algebra.x", "import casadi, numpy.linalg", True),
        ("nsopt.algebra.x", "def f():\n    from nsopt.result import Result", False),
        ("nsopt.mpcc.x", "from nsopt.algebra import screws", False),
        ("nsopt.mpcc.x", "from nsopt.algebra import bracket", True),
        ("nsopt.mpcc.x", "from nsopt import mechanics", False),
        ("nsopt.mechanics.x", "from nsopt.mpcc import Mpcc", True),
        ("nsopt.mechanics.x", "from nsopt.mechanics.model.frame import Frame", True),
        ("nsopt.mechanics.x", "from nsopt.elements import Revolute", False),
        ("nsopt.mechanics.x", "if TYPE_CHECKING:\n    from nsopt.simulation import Run", False),
        ("nsopt.simulation.x", "from nsopt.result import Result", True),
        ("nsopt.result", "from nsopt.simulation import simulate", False),
        ("nsopt.trajectory.x", "from nsopt.simulation import simulate", True),
        ("nsopt.trajectory.x", "from nsopt.trajectory.costs import Effort", True),
        ("nsopt.trajectory.x", "from nsopt.trajectory.costs.drives import Effort", False),
        ("nsopt.trajectory.costs.x", "from nsopt.trajectory.costs.drives import Effort", True),
        ("nsopt.trajectory.costs.x", "from nsopt.trajectory.horizon import Horizon", True),
        ("nsopt.simulation.x", "from nsopt.trajectory import optimize", False),
        ("nsopt.cli", "from . import plots", True),
        ("nsopt.plots", "from nsopt import simulate", False),
        ("nsopt.cli", "import problems.revolute_pendulum", False),
        ("nsopt.simulation.x", "import nsopt.helpers", False),
        ("problems.four_bar.model", "from nsopt import simulate", True),
        ("problems.four_bar.model", "from nsopt.mechanics import Mechanism", True),
        ("problems.four_bar.model", "from nsopt.mechanics.model.mechanism import Mechanism", False),
        ("notebooks.arm", "from nsopt.trajectory.costs import Effort", False),
    ],
)
def test_the_rule_itself(module, source, allowed):
    known = {
        "nsopt.mechanics",
        "nsopt.mechanics.model.frame",
        "nsopt.algebra.screws",
        "nsopt.plots",
    }
    names = {"Frame": "nsopt.mechanics.model.frame", "Mechanism": "nsopt.mechanics.model.mechanism"}
    exported = {
        "nsopt.mechanics": names,
        "nsopt.trajectory.costs": {"Effort": "nsopt.trajectory.costs.drives"},
    }
    broken = broken_imports(module, source, place="here", known=known, exported=exported)
    assert (not broken) == allowed, report(broken)
