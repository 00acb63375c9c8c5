"""Pages of what is documented elsewhere in the project, and links to it."""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

LINKS = (
    (r"\]\((?:\.\./)*problems/?\)", "](/problems/index.md)"),
    (r"\]\((?:\.\./)*problems/(\w+)(?:/README\.md|/)?(#[\w-]+)?\)", r"](/problems/\1.md\2)"),
    (r"\]\((?:\.\./)*notebooks/(gallery/\w+/\w+)\.py\)", r"](/\1.rst)"),
    (r"\]\((?:\.\./)*notebooks/(\w+)\.py\)", r"](/tutorials/\1.ipynb)"),
    (r"\]\((?:\.\./)*docs/([\w/]+\.md)(#[\w-]+)?\)", r"](/\1\2)"),
    (r"\]\((?:\.\./)*CONTRIBUTING\.md(#[\w-]+)?\)", r"](/contributing.md\1)"),
    (r"\]\((?:\.\./)*README\.md\)", "](/index.md)"),
    (r"\]\((?:\.\./)*tests/([\w/]+\.py)\)", r"](path:/../tests/\1)"),
)
"""Links as they are in the files, and as they are on the site."""


def copy_pages(app: Sphinx, config: Config) -> None:
    """Write the pages of the named problems, of the guide for contributors and of the changes."""
    source, root = Path(app.srcdir), Path(app.srcdir).parent
    folder = source / "problems"
    folder.mkdir(exist_ok=True)
    readmes = {f.parent.name: f for f in sorted((root / "problems").glob("*/README.md"))}
    pages = {folder / f"{name}.md": f.read_text(encoding="utf-8") for name, f in readmes.items()}
    pages[folder / "index.md"] = INDEX + "\n".join(["```{toctree}", *readmes, "```", ""])
    pages[source / "contributing.md"] = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    pages[source / "changelog.md"] = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    for old in set(folder.iterdir()) - set(pages):
        old.unlink()
    for path, text in pages.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


INDEX = """# Named problems

Models that are ready to run, each with its numbers, their source, and what it must show.
`nsopt list` prints their names, `nsopt run NAME` simulates one, `nsopt optimize NAME` finds the
best motion of one.

"""


def translate_links(app: Sphinx, docname: str, text: list[str]) -> None:
    """Point links to files of the project to their pages."""
    for pattern, page in LINKS:
        text[0] = re.sub(pattern, page, text[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", copy_pages)
    app.connect("source-read", translate_links)
    return {"parallel_read_safe": True}
