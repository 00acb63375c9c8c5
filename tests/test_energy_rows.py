"""What a summary says of energies is so: parts are no larger than the whole."""

import numpy as np
import pytest

from nsopt import GROUND, Body, ContactLaw, Frame, Mechanism, PlaneContact, StepBounds, assemble
from nsopt import simulate as run
from nsopt.summary import summary

MASS, HEIGHT, G = 2.0, 0.05, 9.81
WHOLE = MASS * G * HEIGHT


@pytest.fixture(scope="module")
def fallen():
    """A ball that falls onto a floor and stays there, of which contact takes all the energy."""
    ball = Body("ball", MASS, position=(0, 0, HEIGHT), point_mass=True)
    floor = PlaneContact("floor", Frame(GROUND), Frame(ball), law=ContactLaw())
    d = assemble(Mechanism([ball]), [floor], gravity=(0, 0, -G))
    return run(d, duration=0.3, steps=StepBounds(1e-6, 1e-3), progress=False).data


def told(data, lost=1.0, taken=1.0):
    """Return the row of a run that lost other parts of the energy, and whose contacts took some."""
    altered = data.assign(
        dissipated_energy=lost * data["dissipated_energy"],
        contact_loss=taken * data["contact_loss"],
    )
    (row,) = (x for x in summary(altered).splitlines() if x.startswith("energy lost"))
    return " ".join(row.split())


def test_contact_takes_what_a_fall_gives(fallen):
    assert (
        told(fallen)
        == f"energy lost {WHOLE:.3g} J at the end, {WHOLE:.3g} J of it in impacts and friction"
    )


@pytest.mark.parametrize("lost", [0.99, 1e-4, -1e-4])
def test_more_than_the_whole_is_no_part_of_it(fallen, lost):
    assert f"; contacts take {WHOLE:.3g} J, and the steps add the difference" in told(fallen, lost)
    small = told(fallen, 1e-5 * lost, 1e-5)  # beside what the motion exchanges, too
    assert "; contacts take 9.81e-06 J, and the steps add the difference" in small


def test_what_rounding_leaves_is_nothing(fallen):
    row = told(fallen, -1e-15, 1e-20)
    assert row == "energy lost 0 J at the end, 0 J of it in impacts and friction"
    assert np.any(fallen["dissipated_energy"].values * -1e-15 < 0)
