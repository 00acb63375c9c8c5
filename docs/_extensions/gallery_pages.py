"""The gallery: when its scripts run anew, their films, and their pictures on other pages."""

import ast
import hashlib
import io
import shutil
from functools import partialmethod
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective
from sphinx_gallery.scrapers import figure_rst
from tqdm import tqdm


def films(block: tuple[Any, ...], found: dict[str, Any], gallery: dict[str, Any]) -> str:
    """Move the films that a script wrote beside it to its page; return what shows them."""
    moved = []
    for film in sorted(Path(found["src_file"]).parent.glob("*.gif")):
        path = Path(next(found["image_path_iterator"])).with_suffix(".gif")
        shutil.move(film, path)
        moved.append(str(path))
    return figure_rst(moved, gallery["src_dir"])


class GalleryPictures(SphinxDirective):
    """The pictures of a script of the gallery, by its path there; nothing where it did not run."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        script, source = Path("gallery", self.arguments[0]), Path(self.env.srcdir)
        pictures = (source / script.parent / "images").glob(f"sphx_glr_{script.name}_[0-9]*")
        shown = nodes.paragraph()
        for picture in sorted(pictures):
            uri = f"/{picture.relative_to(source).as_posix()}"
            shown += nodes.image(uri=uri, alt=script.name.replace("_", " "), width="49%")
        self.env.note_dependency(str(script.with_suffix(".rst")))
        return [shown] if shown.children else []


def prepare(app: Sphinx, config: Config) -> None:
    """Run all scripts anew where the code of nsopt changed; none by ``-D plot_gallery=0``.

    Pages of scripts that are no more there are removed.
    """
    pages, stamp = Path(app.srcdir) / "gallery", Path(app.srcdir) / "gallery" / "code.txt"
    runs = str(config.plot_gallery) not in ("0", "False")
    code = code_of(Path(app.srcdir).parent) if runs else "not run"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != code:
        shutil.rmtree(pages, ignore_errors=True)
        pages.mkdir()
        stamp.write_text(code, encoding="utf-8")
    scripts = Path(app.srcdir).parent / "notebooks" / "gallery"
    for page in pages.glob("*/*.rst"):
        if page.stem != "index" and not (scripts / page.parent.name / f"{page.stem}.py").is_file():
            for old in page.parent.glob(f"{page.stem}.*"):
                old.unlink()


def code_of(root: Path) -> str:
    """Return what is the same as long as the code of nsopt and of the problems is."""
    files = [f for part in ("nsopt", "problems") for f in sorted((root / part).rglob("*.py"))]
    return hashlib.sha256("".join(map(statements, files)).encode()).hexdigest()[:12]


def statements(path: Path) -> str:
    """Return what a file does, without its comments and docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        named = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if named and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def setup(app: Sphinx) -> dict[str, bool]:
    # Bars of progress are for terminals: pages show what a script prints.
    tqdm.__init__ = partialmethod(tqdm.__init__, file=io.StringIO())
    app.setup_extension("sphinx_gallery.gen_gallery")
    app.add_directive("gallery-pictures", GalleryPictures)
    app.connect("config-inited", prepare, priority=900)
    return {"parallel_read_safe": True}
