"""Draw columns of a table over one of its columns, as lines in logarithmic scales."""

import io
from collections.abc import Sequence

from matplotlib.ticker import FuncFormatter, NullFormatter

from nsopt.plots.style import COLOURS, DASHES, MARKERS, SMALL, axis_labels, new_picture

Line = tuple[str, list[float], list[float]]
"""A label, and its x and y."""


def lines(
    head: Sequence[str], rows: Sequence[Sequence[str]], x: str, y: Sequence[str]
) -> list[Line]:
    """Return a line for each column of y, over x; an empty cell has no point."""
    found = []
    for name in y:
        points = [(row[head.index(x)], row[head.index(name)]) for row in rows]
        pairs = [(number(a), number(b)) for a, b in points if a.strip() and b.strip()]
        found.append((name, [a for a, _ in pairs], [b for _, b in pairs]))
    return found


def number(cell: str) -> float:
    """Return the number in a cell, such as 1,240."""
    return float(cell.replace(",", "").split()[0])


def draw(found: Sequence[Line], x: str, y: str) -> bytes:
    """Return the picture of some lines, as SVG."""
    figure = new_picture((6.0, 3.6))
    axes = figure.add_subplot()
    for k, (label, over, values) in enumerate(found):
        style = {"color": COLOURS[k], "linestyle": DASHES[k % 4], "marker": MARKERS[k % 4]}
        axes.loglog(over, values, label=label, markersize=5, **style)
    ticks = sorted({value for _, over, _ in found for value in over})
    if len(ticks) <= MOST_TICKS and ticks[0] >= 1:
        axes.set_xticks(ticks)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axis_labels(axes, x, y)
    figure.legend(loc="outside right upper", fontsize=SMALL, frameon=False)
    stream = io.BytesIO()
    figure.savefig(stream, format="svg")
    return stream.getvalue()


MOST_TICKS = 8
"""Values of x up to which each has a tick, where they are counts."""
