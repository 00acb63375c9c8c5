"""What one part must know of another is a value: words are made where they are printed."""

import ast

import pytest

from tests.test_layers import ROOT, dotted

pytestmark = pytest.mark.unit

READ_WORDS = {
    "nsopt.mpcc.backends.linear_solver",  # reads what the system says of a processor
    "nsopt.robots.export",  # reads C that CasADi wrote
    "nsopt.cli.choices",  # names classes on the command line
}


def constants(tree):
    """Return the names of a module's constants that are texts of several words."""
    assigned = [x for x in tree.body if isinstance(x, ast.Assign) and is_message(x.value)]
    return {x.targets[0].id for x in assigned if isinstance(x.targets[0], ast.Name)}


def is_message(node, names=()):
    """Tell whether an expression is a text of several words, or the name of one."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.JoinedStr):
        return any(is_message(x) for x in node.values)
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_text and " " in node.value and any(x.isalpha() for x in node.value)


def is_word(node):
    """Tell whether an expression is a text with a letter, or a collection of such."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(is_word, node.elts))
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_text and any(x.isalpha() for x in node.value)


def is_spelled(node):
    """Tell whether an expression is the name of a class, or how an object prints."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "repr"
    return isinstance(node, ast.Attribute) and node.attr in ("__name__", "__qualname__")


def asks_words(node):
    """Tell whether a node asks what a text begins with, ends with or contains."""
    is_call = isinstance(node, ast.Call)
    return is_call or any(isinstance(x, ast.In | ast.NotIn) for x in node.ops)


def is_reason(node):
    """Tell whether an expression is a text that is printed, by its name."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in {"reason", "stop_reason", "fault", "message", "description"}


ASKING = {"startswith", "endswith", "find", "rfind", "index", "count", "split", "rsplit"}
ASKING |= {"partition", "rpartition", "removeprefix", "removesuffix"}
PATTERNS = {"match", "search", "fullmatch", "findall", "finditer"}  # of `re`


def comparisons(tree, names):
    """Yield lines that compare with a message, or ask whether a text has or begins with one.

    Also those that ask so for the name of a class, or how an object prints.
    """
    for node in ast.walk(tree):
        texts, others = [], []  # what is asked for, and of what
        if isinstance(node, ast.Compare):
            texts = others = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ASKING and any(map(is_said(names), node.args)):
                texts, others = node.args, [node.func.value]
            elif node.func.attr in PATTERNS and node.args:
                texts, others = node.args[:1], node.args[1:]
        elif isinstance(node, ast.MatchValue):
            texts, node = [node.value], node.value
        spelled = any(map(is_spelled, others)) and any(map(is_word, texts))
        told = asks_words(node) and any(map(is_reason, others)) if others else False
        if any(is_message(x, names) for x in texts) or spelled or told:
            yield node.lineno


def is_said(names):
    """Return what tells whether an argument is a text with a letter, or the name of a message."""
    return lambda node: is_word(node) or is_message(node, names)


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
        '\nended = self.reason.split("interrupted")[1:]',
        '\nkind = text.partition(" off by")[0]',
        'WORK = "of work by contacts"\nkind = text.removesuffix(WORK)',
        '\nkind = re.match(r"by [A-Z]", text)',
        'match text:\n    case "below h_min": pass',
        '\nours = type(scheme).__name__ == "Variational"',
        '\nours = type(scheme).__name__ in ("Variational", "MoreauJean")',
        '\nours = repr(scheme).startswith("Variational")',
    ],
)
def test_a_comparison_is_found(source):
    tree = ast.parse(source)
    assert [*comparisons(tree, constants(tree))] == [2]
