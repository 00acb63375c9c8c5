"""Runs to draw, and what axes carry."""

import numpy as np

from nsopt import (
    GROUND,
    Body,
    CornerPath,
    Frame,
    Mechanism,
    PaperStep,
    Programmed,
    Result,
    Revolute,
    RevoluteClearance,
    Solver,
    Sqp,
    Start,
    StepBounds,
    Variational,
    assemble,
    consistent,
    simulate,
)
from nsopt.robots import CrossSection, LinkMaterial, flexible_link, replace_link

CLEARANCE = 1e-3


def run(title, joints=(), contacts=(), body=None, duration=0.06, steps=(1e-3, 2e-3)):
    body = body or rod()
    mechanism = Mechanism([body], [make(body) for make in joints], "absolute")
    dynamics = assemble(mechanism, [make(body) for make in contacts], gravity=(0.0, -9.81, 0.0))
    return simulate(
        dynamics,
        None,
        duration,
        steps=StepBounds(*steps),
        scheme=PaperStep(),
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


def ran_led(bends):
    """Return two links, the first of which may bend, with the tip led along corners."""
    path = CornerPath([(1.2, 0.4, 0.0), (1.0, 0.4, 0.0), (1.0, 0.6, 0.0)], side=0.1)
    bodies = [Body(f"link{k}", 1.0, (0.01, 0.09, 0.09), position=(k + 0.5, 0, 0)) for k in range(2)]
    ends = (Frame(GROUND), Frame.at(bodies[0], (1, 0, 0)))
    joints = [
        Revolute(f"hinge{k}", base, Frame.at(body, (k, 0, 0)))
        for k, (base, body) in enumerate(zip(ends, bodies, strict=True))
    ]
    tip = Programmed("tip", Frame(GROUND), Frame.at(bodies[-1], (2, 0, 0)), path, "xy")
    mechanism, forces = Mechanism(bodies, [*joints, tip], "relative"), ()
    if bends:
        metal = LinkMaterial(density=2700.0, young=7e10, shear=2.6e10)
        section = CrossSection.circle(0.01)
        bar = flexible_link("link0", (0, 0, 0), np.eye(3), 1.0, section, metal, elements=2)
        mechanism, forces = replace_link(mechanism, "link0", bar)
    d = assemble(mechanism, forces, (0, -9.81, 0))
    start = consistent(d, Start.named(d, {"hinge0": -0.6, "hinge1": 1.6}))
    return simulate(
        d,
        start,
        0.01,
        steps=StepBounds(1e-4, 1e-4),
        scheme=Variational(),
        solver=Solver(backend=Sqp()),
        title="bends" if bends else "rigid",
        progress=False,
    )


def factor_of(ax, unit):
    text = ax.get_ylabel()
    prefix = text[text.index("[") + 1 : text.index("]")].removesuffix(unit)
    return {"k": 1e-3, "": 1.0, "m": 1e3, "µ": 1e6, "n": 1e9}[prefix]


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
