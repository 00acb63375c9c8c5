"""Draw tables of pages: a picture below a table, from its cells, so that both say the same."""

import base64
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from drawn_tables import draw, lines
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class TablePicture(SphinxDirective):
    """Draw the table inside, below it: columns of ``y``, separated by ``;``, over column ``x``."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "x": directives.unchanged_required,
        "y": directives.unchanged_required,
        "label": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        inside = self.parse_content_to_nodes()
        (table,) = (t for node in inside for t in node.findall(nodes.table))
        head, *rows = [
            [cell.astext() for cell in row.findall(nodes.entry)] for row in table.findall(nodes.row)
        ]
        x, names = self.options["x"], [name.strip() for name in self.options["y"].split(";")]
        found = lines(head, rows, x, names)
        label = self.options.get("label", names[0])
        uri = "data:image/svg+xml;base64," + base64.b64encode(draw(found, x, label)).decode()
        told = ", ".join(name for name, _, _ in found)
        return [*inside, nodes.image(uri=uri, alt=f"{label} over {x}: {told}", width="85%")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("table-picture", TablePicture)
    return {"parallel_read_safe": True}
