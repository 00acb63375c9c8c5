"""What does something has the name of what it does: verbs in the imperative, not participles."""

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

PACKAGE = Path(__file__).parents[1] / "nsopt"

IRREGULAR = {
    *("begun", "bent", "bound", "broken", "built", "chosen", "drawn", "driven", "found", "frozen"),
    *("given", "grown", "heard", "held", "hidden", "kept", "known", "left", "lost", "made", "met"),
    *("seen", "sent", "shown", "struck", "stuck", "swept", "taken", "thrown", "told", "written"),
}
VERBS = {"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "spread"}

# Those that users type or derive from.
PUBLIC = {
    *("counted_angle", "frozen", "seen", "stated"),  # of State
    *("placed", "pressed", "smoothed"),  # of guesses, forces and laws of friction
    *("named", "prepared", "restated", "stated_start"),  # of Start, Optimization, Dynamics
    *("left_null_arrays", "left_null_vectors"),
    *("flattened", "implied_rows", "resisted_joint"),
    *("programmed_paths", "programmed_rates", "tracked_points"),
}


def is_participle(name):
    first = name.strip("_").split("_")[0]
    return (first.endswith("ed") and first not in VERBS) or first in IRREGULAR


def test_functions_are_not_named_by_participles():
    found = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or not is_participle(node.name):
                continue
            if not any("property" in ast.unparse(x) for x in node.decorator_list):
                found.add((node.name, file.relative_to(PACKAGE).as_posix()))
    new = sorted(f"{file}: {name}" for name, file in found if name not in PUBLIC)
    assert not new, f"name them by verbs in the imperative: {new}"
    assert {name for name, _ in found} == PUBLIC, "PUBLIC has names that are gone"
