"""Laws of impact on random impacts, raw: in how many the energy rises, and what else goes wrong.

A free body that touches one to six planes, directions and places at random, with a random inertia,
strikes them at a random velocity, in space; each contact has a coefficient of restitution and one
of friction of its own, from 0 to 1; for laws that take them also a tangential restitution from 0 to
1, and a stiffness from 0.1 to 10. Nothing is accepted or refused, and no other law helps out.
"solved" is the share in which Newton's method converges, "energy rises" that in which it is more
than 1e-9 of what it was, "by" by how much at most; "enters" in which a body is still entering a
wall after it. Rows "one e" give all contacts the same restitution, "smooth" no friction.

    python benchmarks/impact_laws.py [--draws 10000] [--seed 0] [--law energetic]
"""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass

import numpy as np
from common import machine, table

from nsopt import (
    GROUND,
    Body,
    Compiled,
    ContactLaw,
    Dynamics,
    EnergeticImpact,
    Frame,
    LargestStep,
    Mechanism,
    MoreauJean,
    NewtonImpact,
    Parameter,
    PlaneContact,
    PoissonImpact,
    SequentialImpact,
    StepBounds,
    assemble,
)
from nsopt.schemes import Impact
from nsopt.simulation import Acceptance
from nsopt.simulation.batch import Batch
from nsopt.simulation.method import Method
from nsopt.simulation.run import Run

MOST = 6
GEOMETRIES = 10
H = 1e-6  # s, in which nothing turns, and rates are solved to 1e-8 m/s
RISES = 1e-9
LAWS: dict[str, Impact] = {
    "Newton": NewtonImpact(),
    "Poisson": PoissonImpact(),
    "one after another": SequentialImpact(),
    "energetic, linear": EnergeticImpact(exponent=1.0),
    "energetic, Hertz": EnergeticImpact(),
}
HEAD = ("law", "contacts' e and mu", "impacts", "solved", "energy rises", "by", "enters")


@dataclass(frozen=True)
class Kind:
    """How restitution and friction are drawn."""

    one_e: bool = False
    smooth: bool = False

    @property
    def name(self) -> str:
        """What a row is called."""
        return ("one e, " if self.one_e else "mixed e, ") + ("smooth" if self.smooth else "rough")


def draw_body(
    rng: np.random.Generator, contacts: int, smooth: bool, takes_compression: bool
) -> Dynamics:
    """Return a body that touches planes."""
    half = rng.uniform(0.2, 1, 3)
    inertia = tuple((half @ half - half**2) / 3)
    body = Body("body", 1.0, inertia)
    planes = []
    for k in range(contacts):
        axis, place = rng.normal(size=3), rng.uniform(-1, 1, 3) * half
        law = ContactLaw(
            restitution=Parameter(f"e{k}", 0.5),
            friction=0.0 if smooth else Parameter(f"mu{k}", 0.5),
            tangential_restitution=Parameter(f"back{k}", 0.5) if takes_compression else 0.0,
            stiffness=Parameter(f"stiffness{k}", 1.0) if takes_compression else 1.0,
        )
        wall = Frame(GROUND, tuple(place), tuple(axis / np.linalg.norm(axis)))
        planes.append(PlaneContact(f"plane {k}", wall, Frame(body, tuple(place)), law=law))
    return assemble(Mechanism([body], coordinates="absolute"), planes, (0, 0, 0))


def strike(
    rng: np.random.Generator, law: Impact, dynamics: Dynamics, count: int, kind: Kind
) -> tuple[np.ndarray, ...]:
    """Return which impacts are solved, energies after over before, and largest approaches."""
    scheme = MoreauJean(impact=law)
    loose = Acceptance(contact_work=1e9, energy=1e9, growth=1e9, negligible=1e9)
    method = Method(scheme, Compiled(), LargestStep(contacts=None), loose)
    run = Run.check(dynamics, None, H, StepBounds(H, H), None)
    batch = Batch(dynamics, count, run, method, 1, False, 1)
    contacts = len(dynamics.contact_names)
    W = np.asarray(dynamics.gap_matrix(0, run.start.q, run.p))
    v = rng.normal(size=(count, dynamics.nv))
    # Into the walls, as far as one velocity can be.
    v -= np.maximum(v @ W, 0) @ np.linalg.pinv(W)
    starts = [run.start.__class__(run.start.q, x) for x in v]
    batch.reset(slice(None), starts)
    e = rng.uniform(size=(count, contacts))
    if kind.one_e:
        e[:] = e[:, :1]
    numbers = {f"e{k}": e[:, k] for k in range(contacts)}
    if not kind.smooth:
        numbers |= {f"mu{k}": rng.uniform(size=count) for k in range(contacts)}
    if law.takes_compression:
        numbers |= {f"back{k}": rng.uniform(size=count) for k in range(contacts)}
        numbers |= {f"stiffness{k}": 10 ** rng.uniform(-1, 1, count) for k in range(contacts)}
    solved = batch.step(numbers).completed
    M = np.asarray(dynamics.mass(run.start.q, run.p))
    before, after = (np.einsum("ij,jk,ik->i", x, M, x) / 2 for x in (v, batch.v))
    return solved, after / before, -(batch.v @ W).min(axis=1)


def main() -> None:
    """Print a table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--law", default="", help="part of the names of those to be judged")
    given = parser.parse_args()
    each = -(-given.draws // (MOST * GEOMETRIES))
    rows = []
    for name, law in LAWS.items():
        if given.law not in name:
            continue
        kinds = [Kind(one_e, smooth) for smooth in (False, True) for one_e in (False, True)]
        for kind in kinds:
            if isinstance(law, SequentialImpact) and not kind.smooth:
                continue
            if law.takes_compression and kind.one_e:  # it loses energy with any e
                continue
            rng, parts = np.random.default_rng(given.seed), []
            for contacts in range(1, MOST + 1):
                for _ in range(GEOMETRIES):
                    body = draw_body(rng, contacts, kind.smooth, law.takes_compression)
                    parts.append(strike(rng, law, body, each, kind))
            solved, energy, enters = (np.concatenate(x) for x in zip(*parts, strict=True))
            rises = solved & (energy > 1 + RISES)
            rows.append(
                (
                    *(name, kind.name, str(solved.size), f"{100 * solved.mean():.2f} %"),
                    f"{100 * rises.sum() / solved.sum():.2f} %",
                    f"{max(energy[solved].max() - 1, 0):.1e}",
                    f"{100 * np.mean(enters[solved] > 1e-7):.2f} %",
                )
            )
            print(*rows[-1], flush=True)
    print(machine())
    print(table(HEAD, rows))


if __name__ == "__main__":
    main()
