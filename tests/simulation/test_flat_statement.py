"""Steps of the kernels, put into the flat statement of their programs, over the catalogue."""

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    Acceptance,
    Body,
    Frame,
    LargestStep,
    Mechanism,
    Prismatic,
    Revolute,
    Spherical,
    StepBounds,
    Variational,
    assemble,
)
from nsopt.mechanics import Start
from nsopt.mpcc import Newton, min_rows
from nsopt.schemes import Scales
from nsopt.simulation import ChainParameters, StepKernel, StepProgram
from tests import catalog, catalog_methods, catalog_ranges
from tests.schemes.models import case_a_dynamics
from tests.states import grounded

BOUNDS, STEPS, UNTIL_CONTACT = StepBounds(1e-5, 1e-3), 12, 150
FREE = [
    *(*catalog.JOINTS, *catalog.FIRST_ORDER, *catalog.RATES),
    *(*catalog.SPRINGS, *catalog.FILMS, *catalog.DRIVES, *catalog.LOADS),
]
ON_JOINTS = [*catalog.JOINT_FRICTION, *catalog_ranges.CONES, *catalog_ranges.RANGES]
SCHEMES = [x for x in catalog_methods.KINDS if not x.chooses_h]
QUICK = {"revolute", "knife edge", "rubbing revolute clearance", "spring", "damped cone"}


def each(rows):
    """Rows as parameters of a test, those that repeat what `QUICK` ones show as slow."""
    marks = {True: [], False: [pytest.mark.slow]}
    return [pytest.param(x, id=str(x), marks=marks[str(x) in QUICK]) for x in rows]


def state_rows(program):
    """Return the rows of the programs of a step, by CasADi: equations, minima and projections."""
    rows = []
    for part in program.parts:
        rows += [ca.densify(x.expr) / ca.SX(x.scale) for x in part.equalities]
        rows += [row.value for row in min_rows(part)]
    unknowns = ca.vertcat(*(part.x for part in program.parts))
    return ca.Function("rows", [unknowns, program.parameters], [ca.vertcat(*rows)])


def check_steps(dynamics, scheme, steps=STEPS):
    """Step by the kernels; at the unknowns of each step its flat rows must be zero.

    Return the records of the steps.
    """
    start, p, h = Start.stated(dynamics), dynamics.values(), BOUNDS.h_max
    program = StepProgram(dynamics, scheme, Acceptance())
    kernel = StepKernel(program, LargestStep(contacts=None), Newton(), states=True)
    scales = Scales.of(dynamics, start, p, h, steps * h).numbers
    known = ChainParameters(p, (BOUNDS.h_min, h, steps * h, 1.0), scales).vector
    _, records = kernel(kernel.layout.begin(start, h), known, 4 * steps)
    of, rows = kernel.fields(records), state_rows(program)
    t, q, v = start.t, start.q, start.v
    for k in np.flatnonzero(of["good"][:, 0]):
        x = kernel.layout.state(of["state"][k]).x
        numbers = np.concatenate([[t], q, v, p, of["h"][k], scales])
        assert np.abs(np.array(rows(x, numbers))).max(initial=0) <= Newton().rough
        t, q, v = of["t"][k, 0], of["q"][k], of["v"][k]
    assert t == pytest.approx(steps * h)
    return of


@pytest.mark.parametrize("row", each(FREE))
def test_elements(row):
    check_steps(grounded(row), Variational())


@pytest.mark.parametrize("row", each(catalog.RUBBING))
def test_contacts(row):
    """Until they have closed and pressed."""
    assert check_steps(grounded(row), Variational(), UNTIL_CONTACT)["impulse"].max() > 0


@pytest.mark.slow
@pytest.mark.parametrize("row", catalog.COMPLIANT, ids=str)
def test_compliant_contacts(row):
    """Until they have closed and taken energy."""
    of = check_steps(grounded(row), Variational(), UNTIL_CONTACT)
    assert np.abs(of["pressed_loss"]).max(initial=0) > 0


@pytest.mark.parametrize("row", each(ON_JOINTS))
def test_elements_on_joints(row):
    """Friction and ranges act along joints, which carry loads."""
    body = Body("b", 1.5, (0.03, 0.02, 0.015), position=(0.1, 0.2, 0.0))
    frames = Frame(None), Frame.at(body, (0, 0, 0))
    element = row.build(*frames)
    kind = Spherical if hasattr(element, "cone") else Prismatic if "slid" in str(row) else Revolute
    check_steps(
        assemble(Mechanism([body], [kind("joint", *frames)]), [element], (1.0, -2.0, -9.81)),
        Variational(),
    )


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda s: type(s).__name__)
def test_schemes(scheme):
    """Across the impact of case A at 14.3 ms."""
    check_steps(case_a_dynamics(), scheme, UNTIL_CONTACT)
