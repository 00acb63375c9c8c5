"""Waiting for code that is made in the background."""

import threading

from nsopt.leaves import background


def finish():
    """Wait until the background has done what was begun."""
    done = threading.Event()

    def tell():
        done.set()
        yield

    background.begin(tell)
    assert done.wait(60)
