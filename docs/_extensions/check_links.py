"""Warn of links that lead nowhere, and of what a page would fetch from the network."""

from pathlib import Path

from page_faults import faults
from sphinx.application import Sphinx
from sphinx.util import logging


def check(app: Sphinx, error: Exception | None) -> None:
    """Check the pages that were built."""
    if error is None and app.builder.name == "html":
        for fault in faults(Path(app.outdir)):
            logging.getLogger(__name__).warning(fault)
    if error or app._warncount:  # read all pages again next time, so that it warns again
        Path(app.doctreedir, "environment.pickle").unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", check, priority=900)  # after all have written their files
    return {"parallel_read_safe": True}
