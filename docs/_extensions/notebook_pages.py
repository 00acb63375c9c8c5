"""Make pages and files to download of the notebooks, which are kept as scripts."""

import ast
import hashlib
import shutil
from pathlib import Path

import jupytext
import nbformat
from sphinx.application import Sphinx
from sphinx.config import Config

DOWNLOAD = "*This lesson as a notebook: {download}`%s.ipynb <download/%s.ipynb>`.*"


def write_notebooks(app: Sphinx, config: Config) -> None:
    """Write each notebook as a page and as a file, where it changed."""
    folder = Path(app.srcdir) / "tutorials"
    (folder / "download").mkdir(parents=True, exist_ok=True)
    for script in sorted((Path(app.srcdir).parent / "notebooks").glob("*.py")):
        notebook = jupytext.read(script, fmt="py:percent")
        write(folder / "download" / f"{script.stem}.ipynb", notebook)
        link = nbformat.v4.new_markdown_cell(DOWNLOAD % (script.stem, script.stem))
        notebook.cells.insert(1, link)
        write(folder / f"{script.stem}.ipynb", notebook)


def write(path: Path, notebook: nbformat.NotebookNode) -> None:
    """Write a notebook with the same text each time."""
    notebook.metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    for k, cell in enumerate(notebook.cells):
        cell.id = f"cell-{k}"
        cell.metadata = {}
    text = nbformat.writes(notebook) + "\n"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def keep_outputs(app: Sphinx, config: Config) -> None:
    """Keep what cells printed and drew for as long as the code of nsopt is the same."""
    root = Path(app.srcdir).parent
    files = [f for part in ("nsopt", "problems") for f in sorted((root / part).rglob("*.py"))]
    code = hashlib.sha256("".join(map(statements, files)).encode()).hexdigest()[:12]
    outputs = root / "docs" / "_build" / "outputs"
    for old in outputs.glob("*"):
        if old.name != code:
            shutil.rmtree(old)
    config.nb_execution_cache_path = str(outputs / code)


def statements(path: Path) -> str:
    """Return what a file does, without its comments and docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        named = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if named and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", write_notebooks)
    app.connect("config-inited", keep_outputs, priority=100)
    return {"parallel_read_safe": True}
