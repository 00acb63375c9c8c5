"""How long fallbacks go on."""

import pytest

from nsopt.simulation.fallback_chain import MAX_STEPS, Backoff

pytestmark = pytest.mark.unit


def test_fallbacks_go_on_twice_as_long_while_the_scheme_takes_fewer_steps():
    backoff, lengths = Backoff(), []
    for own in (5, 0, 1, 3, 0, 0, 0, 0, 16):
        backoff = backoff.after_jam._replace(own=own)
        lengths.append(backoff.steps)
    assert lengths == [1, 1, 2, 4, 8, MAX_STEPS, MAX_STEPS, MAX_STEPS, MAX_STEPS]
    assert backoff.after_jam.steps == 1  # the scheme has taken as many


@pytest.mark.parametrize(("steps", "own", "lasts"), [(2, 0, False), (4, 0, True), (4, 4, False)])
def test_a_jam_lasts_where_the_scheme_did_not_go_on_thrice(steps, own, lasts):
    assert Backoff(steps, own).lasts == lasts
