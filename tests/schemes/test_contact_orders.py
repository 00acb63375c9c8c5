"""Composed steps keep fourth order across changes of contact, those of `Variational` second."""

import numpy as np
import pytest

from nsopt import Composition, Variational
from tests.schemes.contact_motions import MOTIONS, find_errors, fit_orders, run

MOST_WITHOUT = 1e-3
"""Part of the time in steps by other schemes, or after changes too many to end steps at."""


@pytest.mark.slow
@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.parametrize(
    ("scheme", "least"), [(Variational(), 1.8), (Composition(), 3.5)], ids=["second", "fourth"]
)
def test_order_across_changes_of_contact(name, scheme, least):
    motion = MOTIONS[name]()
    sizes = motion.largest * 0.5 ** np.arange(5)
    runs = [run(motion, scheme, h) for h in sizes]
    for result in runs:
        a = result.data.attrs
        without = a.get("time_past_changes", 0.0) + a["time_by_other_schemes"]
        assert without < MOST_WITHOUT * motion.duration
    errors = find_errors([motion.find_end(x) for x in runs], motion.exact)
    assert np.all(np.array(fit_orders(sizes, errors, motion.exact.energy)) > least), errors
