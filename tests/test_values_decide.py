"""What one part must know of another is a value: words are made where they are printed."""

import ast

import pytest

from tests.test_layers import ROOT, dotted

pytestmark = pytest.mark.unit

# The first makes one message of several; the second reads what the system says of a processor.
READ_WORDS = {"nsopt.simulation.step_error", "nsopt.mpcc.backends.linear_solver"}


def constants(tree):
    """Return the names of a module's constants that are texts of several words."""
    assigned = [x for x in tree.body if isinstance(x, ast.Assign) and is_message(x.value)]
    return {x.targets[0].id for x in assigned if isinstance(x.targets[0], ast.Name)}


def is_message(node, names=()):
    """Tell whether an expression is a text of several words, or the name of one."""
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value


def asks_words(node):
    """Tell whether a node asks what a text begins with, ends with or contains."""
    is_call = isinstance(node, ast.Call)
    return is_call or any(isinstance(x, ast.In | ast.NotIn) for x in node.ops)


def is_reason(node):
    """Tell whether an expression is a text that is printed, by its name."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in {"reason", "stop_reason", "fault", "message", "description"}


def comparisons(tree, names):
    """Yield lines that compare with a message, or ask whether a text has or begins with one."""
    for node in ast.walk(tree):
        asked = []
        if isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asks = node.func.attr in ("startswith", "endswith", "find")
            asked = [node.func.value, *node.args] if asks else []
        if any(is_message(x, names) or (asks_words(node) and is_reason(x)) for x in asked):
            yield node.lineno


def test_nothing_is_decided_by_the_words_of_a_message():
    files = {dotted(x.relative_to(ROOT)): x for x in (ROOT / "nsopt").rglob("*.py")}
    trees = {x: ast.parse(file.read_text(encoding="utf-8")) for x, file in files.items()}
    texts = {name: constants(tree) for name, tree in trees.items()}
    found = []
    for module, tree in trees.items():
        imports = [x for x in ast.walk(tree) if isinstance(x, ast.ImportFrom)]
        known = {y.name for x in imports for y in x.names if y.name in texts.get(x.module, ())}
        if module not in READ_WORDS:
            found += [f"{module}:{line}" for line in comparisons(tree, known | texts[module])]
    assert not found, f"make it a value: {found}"


@pytest.mark.parametrize(
    "source",
    [
        'WORK = "of work by contacts"\ngains = any(WORK in text for text in tried)',
        '\nbelow = text.startswith("below h_min")',
        '\nsame = reason == "end of the run"',
        '\nended = result.stop_reason.startswith("interrupted")',
        '\nended = "interrupted" in stop_reason',
    ],
)
def test_a_comparison_is_found(source):
    tree = ast.parse(source)
    assert [*comparisons(tree, constants(tree))] == [2]
