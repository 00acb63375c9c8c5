"""Link public names in code style to their place in the reference."""

import re
from typing import Any

from docutils import nodes
from public_names import by_bare_name
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

KEPT = (nodes.title, nodes.reference, addnodes.pending_xref, addnodes.desc_signature)


class LinkNames(SphinxTransform):
    """Make links of literals such as ``Body``, ``Mpcc.solve`` and ``simulate(...)``."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        for literal in list(self.document.findall(nodes.literal)):
            target = by_bare_name().get(literal.astext().partition("(")[0])
            if target is None or any(isinstance(p, KEPT) for p in parents(literal)):
                continue
            link = addnodes.pending_xref(
                "",
                refdomain="py",
                reftype="obj",
                reftarget=target,
                refdoc=self.env.docname,
                refexplicit=True,
                refwarn=True,
            )
            literal.replace_self(link)
            link += literal


def parents(node: nodes.Node) -> list[nodes.Node]:
    """Return the nodes that hold a node."""
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def link_names_alone(app: Sphinx, document: nodes.document) -> None:
    """Leave no link to what only looks like a name, such as the q in ``q : (nq,)``."""
    for link in list(document.findall(addnodes.pending_xref)):
        if link.get("refdomain") != "py":
            continue
        target = by_bare_name().get(link["reftarget"].rpartition(".")[2])
        if link["reftarget"] in by_bare_name().values():
            continue
        if target is None:
            link.replace_self(link.children)
        else:
            link["reftarget"], link["refspecific"] = target, False
            link["reftype"] = "obj"


def escape_bars(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Take bars and stars as they are: |x| is a size, and a * b a product."""
    lines[:] = [plain(line) for line in lines]


def plain(line: str) -> str:
    """Escape what reStructuredText would take for markup, outside of code."""
    if line.lstrip().startswith((">>>", "...")):
        return line
    parts = re.split(r"(``.*?``|`.*?`)", line)
    parts[::2] = [re.sub(r"\||(?<=\s)\*(?=\s)", r"\\\g<0>", part) for part in parts[::2]]
    return "".join(parts)


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("sphinx.ext.autodoc")
    app.add_transform(LinkNames)
    app.connect("doctree-read", link_names_alone)
    app.connect("autodoc-process-docstring", escape_bars, priority=400)
    return {"parallel_read_safe": True}
