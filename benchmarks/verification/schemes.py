"""Motions without contacts: closed forms, published benchmarks, observed orders."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from scipy.special import ellipk

from nsopt import (
    GROUND,
    Body,
    Composition,
    Dynamics,
    Frame,
    Mechanism,
    PaperStep,
    Result,
    Revolute,
    RungeKutta,
    Spherical,
    Variational,
    assemble,
)
from nsopt.schemes import Scheme
from problems.andrews_squeezer import andrews_squeezer
from problems.bricard import bricard
from problems.four_bar import n_four_bar

from .figure import Figure, Subject
from .runs import Array, G, at, extrapolated, run

A01 = "IFToMM benchmark A01 (elliptic functions)"
A02 = "IFToMM benchmark A02, by 3 θ'' = -3.5 g cos θ"
A03 = "IVP test set, andrews (IFToMM benchmark A03)"
ADAMS = "MSC ADAMS, in the joint tests of Project Chrono"

# Simple pendulum


@cache
def simple_pendulum() -> Dynamics:
    """Return a point of 1 kg at 1 m from its hinge, let go where that is level."""
    bob = Body("bob", 1.0, position=(-1.0, 0, 0))
    hinge = Revolute("hinge", Frame(GROUND), Frame.at(bob, (0, 0, 0)))
    return assemble(Mechanism([bob], [hinge], "relative"), gravity=(0, -G, 0))


@cache
def swing(scheme: Scheme, h: float, duration: float = 10.0) -> Result:
    """Return the motion of the simple pendulum."""
    return run(simple_pendulum(), duration, h, scheme)


def bob(axis: int, t: float) -> float:
    """Return a coordinate of the simple pendulum by the scheme of fourth order [m]."""
    result = swing(Composition(), 2e-3)
    return float(result["body_position"].values[at(result, t), 0, axis])


def period() -> float:
    """Return the period: twice the time between two passages of the lowest point [s]."""
    result = swing(Composition(), 2e-3)
    t, angle = result["time"].values, result["q"].values[:, 0] - np.pi / 2
    passages = np.flatnonzero(angle[1:] * angle[:-1] < 0)
    zeros = [np.interp(0, *_cubic(t, angle, k)) for k in passages]
    return float(2 * np.mean(np.diff(zeros)))


def _cubic(t: Array, y: Array, k: int) -> tuple[Array, Array]:
    """Return values and times, the values ascending, of the cubic through four points."""
    near = slice(k - 1, k + 3)
    fine = np.linspace(t[k], t[k + 1], 1001)
    middle = t[k]
    values = np.polyval(np.polyfit(t[near] - middle, y[near], 3), fine - middle)
    order = np.argsort(values)
    return values[order], fine[order]


def order(scheme: Scheme, sizes: tuple[float, ...]) -> float:
    """Return the observed order: the slope of the error of the simple pendulum after 1 s by h."""
    exact = np.array([0.9862917511318754, -0.165010853125541])
    errors = [
        np.linalg.norm(swing(scheme, h, 1.0)["body_position"].values[-1, 0, :2] - exact)
        for h in sizes
    ]
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


# Loops


@cache
def two_four_bars(h: float) -> Result:
    """Return the run of two four-bars in a row."""
    return run(n_four_bar.model("relative"), 10.0, h, store_every=round(4e-3 / h))


def upper_end(axis: int, t: float) -> float:
    """Return where the upper end of the first crank is, extrapolated from two runs [m]."""
    ends = []
    for h in (4e-3, 2e-3):
        result = two_four_bars(h)
        ends.append(2 * result["body_position"].values[at(result, t), 0, axis])
    return extrapolated(*ends)


@cache
def squeezer(h: float) -> Array:
    """Return the seven angles of the squeezer at 30 ms [rad]."""
    result = run(andrews_squeezer.model("relative"), 0.03, h, store_every=round(2e-5 / h))
    return andrews_squeezer.angles(result)[-1]


def squeezer_angle(k: int) -> float:
    """Return an angle of the squeezer at 30 ms, extrapolated from two runs [rad]."""
    return extrapolated(squeezer(2e-5)[k], squeezer(1e-5)[k])


def bricard_drift() -> float:
    """Return the mean energy of Bricard's linkage in the second half less that in the first [J]."""
    energy = run(bricard.model("relative"), 5.0, 2e-3)["total_energy"].values
    half = len(energy) // 2
    return float(np.mean(energy[half:]) - np.mean(energy[:half]))


# Ideal joints in space


@cache
def adams_body(spherical: bool) -> Result:
    """Return the body of the joint tests: 1 kg, its centre of mass 2 m from the joint."""
    at_joint = np.array([1.0, 2.0, 3.0]) if spherical else np.zeros(3)
    body = Body("body", 1.0, (0.04, 0.1, 0.1), position=at_joint + np.array([2.0, 0, 0]))
    y = (0.0, 1.0, 0.0)
    ends = Frame(GROUND, at_joint, y), Frame.at(body, at_joint, y)
    joint = Spherical("joint", *ends) if spherical else Revolute("joint", *ends)
    dynamics = assemble(Mechanism([body], [joint], "relative"), gravity=(0, 0, -9.80665))
    return run(dynamics, 5.0, 5e-3, Composition())


def adams(spherical: bool, variable: str, axis: int, t: float) -> float:
    """Return a reading of the body of the joint tests."""
    result = adams_body(spherical)
    return float(result[variable].values[at(result, t), 0, axis])


def precession() -> float:
    """Return the angle of a heavy top in steady slow precession after 1 s [rad]."""
    A, C, m, l, spin, lean = TOP
    axis = np.array([np.sin(lean), 0, np.cos(lean)])
    x = np.array([np.cos(lean), 0, -np.sin(lean)])
    axes = np.column_stack([x, [0, 1, 0], axis])
    w = axes.T @ [0, 0, PRECESSION] + np.array([0, 0, spin - PRECESSION * np.cos(lean)])
    velocity = np.cross([0, 0, PRECESSION] + (spin - PRECESSION * np.cos(lean)) * axis, l * axis)
    body = Body(
        "top",
        m,
        (A - m * l**2, A - m * l**2, C),
        position=l * axis,
        orientation=axes,
        velocity=velocity,
        angular_velocity=w,
    )
    joint = Spherical("tip", Frame(GROUND), Frame.at(body, (0, 0, 0)))
    dynamics = assemble(Mechanism([body], [joint]), gravity=(0, 0, -G))
    ends = []
    for h in (1e-3, 5e-4):
        r = run(dynamics, 1.0, h)["body_position"].values[:, 0]
        ends.append(float(np.unwrap(np.arctan2(r[:, 1], r[:, 0]))[-1]))
    return extrapolated(*ends)


TOP = (0.02, 0.01, 0.5, 0.15, 60.0, np.radians(40))
"""A and C about the tip [kg m^2], mass [kg], its height [m], spin [rad/s], lean [rad]."""


def _slow_precession() -> float:
    A, C, m, l, spin, lean = TOP
    a, b, c = A * np.cos(lean), -C * spin, m * G * l
    return float((-b - np.sqrt(b**2 - 4 * a * c)) / (2 * a))


PRECESSION = _slow_precession()


def turn_in_the_body() -> float:
    """Return by what angle the spin of a free symmetric body turns in the body in 1 s [rad]."""
    body = Body("top", 1.0, (0.02, 0.02, 0.03), angular_velocity=(1.0, 0.0, 6.0))
    dynamics = assemble(Mechanism([body]))
    ends = []
    for h in (2e-3, 1e-3):
        w = run(dynamics, 1.0, h)["v"].values[:, 3:]
        ends.append(float(np.unwrap(np.arctan2(w[:, 1], w[:, 0]))[-1]))
    return extrapolated(*ends)


PERIOD = float(4 * ellipk(0.5) / np.sqrt(G))
FINE, COARSE = (4e-3, 2e-3, 1e-3), (2e-2, 1e-2, 5e-3)
ORDERS = [
    (Variational(), 2.0, FINE, 0.02),
    (Composition(), 4.0, COARSE, 0.1),
    (RungeKutta(), 4.0, COARSE, 0.1),
    (PaperStep(finds_h=False), 1.0, FINE, 0.05),
]
SWING = {(0, 1.0): 0.9862917511318754, (1, 1.0): -0.165010853125541}
SWING |= {(0, 5.0): -0.9423054350437567, (0, 10.0): -0.27508746257612193}
SWING |= {(1, 10.0): -0.9614192050991236}
ENDS = {(0, 4.0): 0.11761610237556613, (0, 5.0): -0.8113104609999886}
ENDS |= {(0, 10.0): 0.32845811153327736, (1, 10.0): 0.9445185381812223}
SQUEEZED = {
    "β": (0, 15.81077119629904),
    "Θ": (1, -15.75637105984298),
    "γ": (2, 0.04082224013073101),
}
SQUEEZED |= {"Φ": (3, -0.5347301163226948), "ε": (6, 1.048080741042263)}
SPACE = [
    (False, "body_position", 0, 5.0, -1.99968, "x of a pendulum on a hinge at 5 s", "m"),
    (False, "body_position", 2, 2.5, -1.9823, "z of a pendulum on a hinge at 2.5 s", "m"),
    (True, "body_position", 0, 4.0, 2.29696, "x of a pendulum on a ball joint at 4 s", "m"),
    (True, "body_position", 2, 3.0, 2.28852, "z of a pendulum on a ball joint at 3 s", "m"),
]

SUBJECT = Subject(
    "Motion without contact",
    (
        *(
            Figure(
                f"simple pendulum, {'xy'[axis]} at {t:g} s, `Composition`, h = 2 ms",
                "m",
                value,
                A01,
                partial(bob, axis, t),
                1e-7,
            )
            for (axis, t), value in SWING.items()
        ),
        Figure(
            "simple pendulum, period, `Composition`",
            "s",
            PERIOD,
            "4 K(1/2) √(L/g)",
            period,
            1e-7,
        ),
        *(
            Figure(
                f"simple pendulum, observed order of `{type(scheme).__name__}`",
                "1",
                known,
                "order of the method",
                partial(order, scheme, sizes),
                tolerance,
            )
            for scheme, known, sizes, tolerance in ORDERS
        ),
        *(
            Figure(
                f"two four-bars in a row, {'xy'[axis]} of B0 at {t:g} s, extrapolated",
                "m",
                value,
                A02,
                partial(upper_end, axis, t),
                1e-6,
            )
            for (axis, t), value in ENDS.items()
        ),
        *(
            Figure(
                f"Andrews' squeezer, {name} at 30 ms, extrapolated",
                "rad",
                value,
                A03,
                partial(squeezer_angle, k),
                1e-6,
            )
            for name, (k, value) in SQUEEZED.items()
        ),
        *(
            Figure(what, unit, value, ADAMS, partial(adams, spherical, name, axis, t), 1e-5)
            for spherical, name, axis, t, value, what, unit in SPACE
        ),
        Figure(
            "heavy top in steady precession, angle after 1 s, extrapolated",
            "rad",
            PRECESSION,
            "slow root of A Ω² cos θ - C ω Ω + m g l = 0",
            precession,
            1e-6,
        ),
        Figure(
            "free symmetric body, turn of its spin in the body in 1 s, extrapolated",
            "rad",
            3.0,
            "(C - A) ω₃ / A",
            turn_in_the_body,
            1e-6,
        ),
        Figure(
            "Bricard's linkage, mean energy of the second half of 5 s less that of the first",
            "J",
            0.0,
            "conservation of energy (IFToMM benchmark A04)",
            bricard_drift,
            1e-4,
        ),
    ),
)
