"""Make pages of the notebooks, which hold their outputs, and link the files to download."""

from pathlib import Path

import nbformat
from sphinx.application import Sphinx
from sphinx.config import Config

DOWNLOAD = (
    "*This lesson as a notebook: {download}`%s.ipynb <../../notebooks/%s.ipynb>`; "
    "as a script: {download}`%s.py <../../notebooks/%s.py>`.*"
)


def write_pages(app: Sphinx, config: Config) -> None:
    """Write each notebook as a page, where it changed."""
    folder = Path(app.srcdir) / "tutorials"
    for source in sorted((Path(app.srcdir).parent / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(source, as_version=4)
        link = DOWNLOAD % ((source.stem,) * 4)
        notebook.cells.insert(1, nbformat.v4.new_markdown_cell(link, id="download"))
        page, text = folder / source.name, nbformat.writes(notebook)
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
