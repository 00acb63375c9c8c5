"""Extension springs: tension, readings, what they refuse."""

import re

import numpy as np
import pytest

from nsopt import Body, ExtensionSpring, Frame, SpringDamper
from tests.states import array, assembled

pytestmark = pytest.mark.unit


def pulled(spring, length):
    """Force on a point mass at a distance along x from the ground, and the dynamics."""
    b = Body("b", 1.0, position=(length, 0, 0), point_mass=True)
    d = assembled([b], [spring("e", Frame(None), Frame(b))], (0, 0, 0))
    return d, array(d.applied(0, *d.stated_start(), []))


@pytest.mark.parametrize(("length", "tension"), [(0.4, 15.0), (0.5, 35.0), (0.3, -5.0)])
def test_tension_is_pretension_and_stretch(length, tension):
    d, force = pulled(
        lambda *f: ExtensionSpring(*f, 200.0, free_length=0.4, pretension=15.0), length
    )
    assert force == pytest.approx([-tension, 0, 0])
    assert d.output_names == ("e.length", "e.tension")
    assert array(d.outputs(0, *d.stated_start(), [])) == pytest.approx([length, tension])
    potential = float(d.potential(0, *d.stated_start(), []))
    assert potential == pytest.approx(100 * (length - 0.4) ** 2 + 15 * (length - 0.4))


def test_wound_to_its_free_length_it_is_one_of_no_free_length():
    wound = pulled(lambda *f: ExtensionSpring(*f, 200.0, free_length=0.4, pretension=80.0), 0.7)[1]
    assert wound == pytest.approx(pulled(lambda *f: SpringDamper(*f, 200.0), 0.7)[1])


@pytest.mark.parametrize("pretension", [0.0, 15.0])
def test_no_force_where_both_ends_meet(pretension):
    force = pulled(lambda *f: ExtensionSpring(*f, 200.0, pretension=pretension), 0.0)[1]
    assert force == pytest.approx(np.zeros(3), abs=1e-9)


@pytest.mark.parametrize("name", ["stiffness", "free_length", "pretension", "damping"])
@pytest.mark.parametrize("bad", [-0.5, np.nan, np.inf])
def test_numbers_out_of_range_are_refused(name, bad):
    says = re.escape(f"{name} of ExtensionSpring 'e' must") + ".*" + re.escape(f"{bad}")
    with pytest.raises(ValueError, match=says):
        ExtensionSpring(
            "e", Frame(None), Frame(Body("b", 1.0, (1, 1, 1))), **{"stiffness": 1.0} | {name: bad}
        )
