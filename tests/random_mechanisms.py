"""Random spatial chains on random clearance joints, seeded: models, starts and numbers.

A model is assembled (and compiled) once and run with many parameters and starts, so that a
thousand mechanisms take minutes.
"""

from dataclasses import dataclass

import numpy as np

from nsopt import (
    Body,
    CylindricalClearance,
    Frame,
    Mechanism,
    Parameter,
    PrismaticClearance,
    RevoluteClearance,
    SphericalClearance,
    Start,
    StepBounds,
    assemble,
)

SQUARE = ((0.02, 0.015), (-0.02, 0.015), (-0.02, -0.015), (0.02, -0.015))
KINDS = {
    "revolute": lambda name, a, b, c: RevoluteClearance(name, a, b, 0.1, c, c, 0.01),
    "spherical": lambda name, a, b, c: SphericalClearance(name, a, b, c, 0.02),
    "cylindrical": lambda name, a, b, c: CylindricalClearance(name, a, b, 0.1, 10.0, c, 0.01),
    "prismatic": lambda name, a, b, c: PrismaticClearance(name, a, b, SQUARE, 0.1, c),
}
G = 9.81


@dataclass(frozen=True, eq=False)
class Chain:
    """A chain of bodies in its reference pose, all joints centred."""

    kinds: tuple[str, ...]
    points: np.ndarray  # (n, 3) [m] joints
    centres: np.ndarray  # (n, 3) [m] centres of mass
    axes: np.ndarray  # (n, 3, 3) of the joints
    dynamics: object

    def __str__(self):
        return "-".join(kind[:3] for kind in self.kinds)


@dataclass(frozen=True, eq=False)
class Case:
    """One run of a chain."""

    chain: Chain
    start: Start
    parameters: dict
    steps: StepBounds
    duration: float
    clearance: float  # [m] the smallest


def axes_of(rng):
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


def chain(kinds, rng):
    """Return a chain of random geometry on the joints named."""
    points, centres, axes, bodies, joints = [], [], [], [], []
    at, before = np.zeros(3), None
    for i, kind in enumerate(kinds):
        arm = axes_of(rng)[0] * rng.uniform(0.1, 0.4)
        inertia = rng.uniform(0.5, 1.0, 3) * rng.uniform(0.2, 1.0) * np.dot(arm, arm) / 2 + 1e-4
        body = Body(f"b{i}", Parameter(f"m{i}", 1.0), np.sort(inertia), position=at + arm)
        A = axes_of(rng)
        a = Frame(before, at - (centres[-1] if before else 0), A)
        joints.append(KINDS[kind](f"j{i}", a, Frame(body, -arm, A), Parameter(f"c{i}", 1e-3)))
        points.append(at)
        centres.append(at + arm)
        axes.append(A)
        bodies.append(body)
        before, at = body, at + arm + axes_of(rng)[0] * rng.uniform(0.1, 0.4)
    gravity = [Parameter(f"g{k}", value) for k, value in enumerate((0.0, -G, 0.0))]
    dynamics = assemble(Mechanism(bodies), joints, gravity)
    return Chain(tuple(kinds), *(np.array(x) for x in (points, centres, axes)), dynamics)


def start(chain_, clearances, rng):
    """Return a state with offsets inside the clearances and joint speeds up to 10 rad/s."""
    q, v, shift = [], [], np.zeros(3)
    r, rdot, w = np.zeros(3), np.zeros(3), np.zeros(3)  # of the body before
    for i, kind in enumerate(chain_.kinds):
        z = chain_.axes[i][:, 2]
        speed = rng.uniform(-10, 10)
        turn = {"spherical": rng.uniform(-1, 1, 3) * 5, "prismatic": np.zeros(3)}.get(
            kind, speed * z
        )
        slide = z * rng.uniform(-0.5, 0.5) if kind in ("prismatic", "cylindrical") else np.zeros(3)
        rdot = rdot + np.cross(w, chain_.points[i] - r) + slide
        w = w + turn
        rdot = rdot + np.cross(w, chain_.centres[i] - chain_.points[i])
        r = chain_.centres[i]
        shift = shift + 0.3 * clearances[i] * rng.uniform(-1, 1, 3)
        q += [r + shift, [1, 0, 0, 0]]
        v += [rdot, w]
    return Start(np.concatenate(q).astype(float), np.concatenate(v))


def case(chain_, rng):
    """Return a run of the chain: masses, clearances 1e-5..1e-2 m, gravity, bounds of h, start."""
    n = len(chain_.kinds)
    size = 10 ** rng.uniform(-5, -2)
    clearances = np.clip(size * 10 ** rng.uniform(-0.3, 0.3, n), 1e-5, 1e-2)
    down = axes_of(rng)[0] * G
    parameters = {f"c{i}": c for i, c in enumerate(clearances)}
    parameters |= {f"m{i}": 10 ** rng.uniform(-1, 1) for i in range(n)}
    parameters |= {f"g{k}": g for k, g in enumerate(down)}
    return Case(
        chain_,
        start(chain_, clearances, rng),
        parameters,
        StepBounds(1e-7, 10 ** rng.uniform(-4, np.log10(4e-3))),
        max(0.04, 10 * np.sqrt(2 * size / G)),
        float(size),
    )


def cases(count, seed=0, models=10):
    """Yield ``count`` runs over ``models`` chains of one to five bodies."""
    rng = np.random.default_rng(seed)
    names = sorted(KINDS)
    chains = [
        chain([names[k] for k in rng.integers(len(names), size=1 + i % 5)], rng)
        for i in range(models)
    ]
    for i in range(count):
        yield case(chains[i * models // count], rng)
