"""Runs to draw, and what axes carry."""

import numpy as np

from nsopt import (
    GROUND,
    Body,
    Frame,
    Mechanism,
    Result,
    Revolute,
    RevoluteClearance,
    Solver,
    Sqp,
    StepBounds,
    assemble,
    simulate,
)

CLEARANCE = 1e-3


def run(title, joints=(), contacts=(), body=None, duration=0.06, steps=(1e-3, 2e-3)):
    body = body or rod()
    mechanism = Mechanism([body], [make(body) for make in joints])
    dynamics = assemble(mechanism, [make(body) for make in contacts], gravity=(0.0, -9.81, 0.0))
    return simulate(
        dynamics,
        None,
        duration,
        steps=StepBounds(*steps),
        solver=Solver(backend=Sqp()),
        title=title,
        progress=False,
    )


def rod(**start):
    return Body("rod", mass=1.0, inertia=(0.01, 0.09, 0.09), position=(0.5, 0.0, 0.0), **start)


def loose(body):
    return RevoluteClearance(
        "hinge",
        Frame(GROUND),
        Frame.at(body, (0.0, 0.0, 0.0)),
        length=0.1,
        clearance=CLEARANCE,
        axial_clearance=CLEARANCE,
        radius=0.01,
    )


def tight(body):
    return Revolute("hinge", Frame(GROUND), Frame.at(body, (0.0, 0.0, 0.0)))


def ran_clearance():
    """Return a rod that falls in a worn hinge."""
    return run("clearance", contacts=[loose])


def ran_ideal():
    """Return a rod that falls in an ideal hinge."""
    return run("ideal", joints=[tight])


def ran_stone():
    """Return a rod that is thrown."""
    return run("stone", body=rod(velocity=(1.0, 2.0, 0.0)), duration=0.5, steps=(1e-3, 1e-2))


def drawn(ax):
    return [
        (line.get_xdata(), line.get_ydata())
        for line in ax.lines
        if not str(line.get_label()).startswith("_wall")
    ]


def holds(ax, values, factor=1.0):
    """Whether a line in the axes carries just these values."""
    return any(
        len(y) == len(values)
        and np.allclose(y, factor * np.asarray(values), rtol=1e-12, atol=0, equal_nan=True)
        for _, y in drawn(ax)
    )


def repeated(result, names):
    """The same contacts several times, under these names."""
    data = result.data.isel(contact=np.arange(len(names)) % 4).assign_coords(contact=names)
    c = np.full(len(names), CLEARANCE)
    return Result(data.assign_attrs(gap_scales=c, clearances=c))
