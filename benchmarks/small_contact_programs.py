"""Random small programs through contact, against every short sequence of contact modes.

Each of one to three contacts, with and without friction, is solved by the plain call, then in
every sequence of up to three phases (two of five modes or more), and in every neighbour of what was
found.
python benchmarks/small_contact_programs.py [number of programs] [first of them]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise, product
from time import process_time

import numpy as np
from common import machine

from nsopt import (
    GROUND,
    AppliedForce,
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Result,
    assemble,
)
from nsopt.trajectory import (
    PLAN,
    ContactPhase,
    EndAt,
    Horizon,
    InputEffort,
    Open,
    Optimization,
    Sliding,
    StartAt,
    Sticking,
    Straight,
)
from nsopt.trajectory.exact import KnownMotion, PhasedMotion, sum_costs
from nsopt.trajectory.phases import ContactMode
from nsopt.trajectory.search import FoundMotion, Search, StatedProgram, Strategy

G = 9.81
STEPS = 24
ZERO = 1e-6  # a cost that counts as none
ALIKE = 1e-4  # share of the cost within which two optima are one: phases bring nodes
AHEAD = ((0, 0, 1.0), (0, 1, 0), (-1, 0, 0))  # z of a plane, in its columns, is x
BACK = ((0, 0, -1.0), (0, 1, 0), (1, 0, 0))  # it is against x
DOWN = ((1.0, 0, 0), (0, -1, 0), (0, 0, -1))
FREE, ZEROS = np.nan, (0.0, 0.0, 0.0)


def state(
    bodies: Sequence[Body],
    contacts: Sequence[PlaneContact],
    forces: str,
    ends: tuple[Sequence[float], ...],
    duration: float,
    weight: float = G,
) -> Optimization:
    """Return the motion of point masses of least squared ``forces`` on the first, along x or z.

    ``ends`` are coordinates and velocities at the start, then at the end.
    """
    first = bodies[0]
    values = [Parameter(axis, 0.0) if axis in forces else 0.0 for axis in "xyz"]
    drive = AppliedForce("drive", Frame(first), tuple(values))
    mechanism = Mechanism(list(bodies), coordinates="relative")
    d = assemble(mechanism, [*contacts, drive], gravity=(0, 0, -weight))
    q0, v0, q1, v1 = (np.asarray(x, dtype=float) for x in ends)
    costs = [InputEffort(input=axis) for axis in forces]
    guess = Straight(q0, np.where(np.isnan(q1), q0, q1))
    conditions = [StartAt(q0, v0), EndAt(q1, v1)]
    return Optimization(d, Horizon(duration, STEPS), costs, conditions, guess, inputs=list(forces))


def draw_lift(rng: np.random.Generator, *, ceiling: bool) -> Optimization:
    """Return a mass on a floor, or above it, that is moved up or down, maybe below a ceiling."""
    ball = Body("ball", rng.uniform(0.5, 2), point_mass=True)
    contacts = [PlaneContact("floor", Frame(GROUND), Frame(ball))]
    low, high = rng.choice([0.0, rng.uniform(0.1, 0.8)]), rng.uniform(0.0, 1.2)
    if ceiling:
        top = Frame(GROUND, (0, 0, max(low, high) + rng.uniform(0.0, 0.2)), DOWN)
        contacts.append(PlaneContact("ceiling", top, Frame(ball)))
    rises = rng.choice([0.0, rng.uniform(0, 3)]) if ceiling else 0.0
    start, end = ((0, 0, low), (0, 0, rises)), ((0, 0, high), (0, 0, rng.choice([FREE, 0.0])))
    return state([ball], contacts, "z", (*start, *end), rng.uniform(0.8, 2.5))


def draw_sled(rng: np.random.Generator, forces: str) -> Optimization:
    """Return a sled on a floor with friction, drawn along, maybe lifted too."""
    sled = Body("sled", rng.uniform(0.5, 2), point_mass=True)
    law = ContactLaw(friction=rng.uniform(0.05, 0.8))
    floor = PlaneContact("floor", Frame(GROUND), Frame(sled), law=law, planar=True)
    begins, ends = rng.choice([0.0, rng.uniform(-2, 2)]), rng.choice([FREE, 0.0, 1.0])
    way = (rng.uniform(0.2, 1.5), 0, 0), (ends, 0, 0)
    return state([sled], [floor], forces, (ZEROS, (begins, 0, 0), *way), rng.uniform(0.8, 2.5))


def draw_walls(rng: np.random.Generator) -> Optimization:
    """Return a ball that is moved between two walls, which may stop it."""
    ball = Body("ball", rng.uniform(0.5, 2), point_mass=True)
    walls = {"right": Frame(GROUND, (1.0, 0, 0), BACK), "left": Frame(GROUND, ZEROS, AHEAD)}
    contacts = [PlaneContact(name, frame, Frame(ball)) for name, frame in walls.items()]
    at, to = rng.uniform(0, 1), rng.choice([0.0, 1.0, rng.uniform(0, 1)])
    speed = rng.choice([0.0, rng.uniform(-3, 3)])
    ends = (at, 0, 0), (speed, 0, 0), (to, 0, 0), ZEROS
    return state([ball], contacts, "x", ends, rng.uniform(0.5, 2), weight=0.0)


def draw_push(rng: np.random.Generator, *, rubs: bool, wall: bool) -> Optimization:
    """Return a block that a pusher brings to its place, on a floor with friction or floating.

    A wall may stop it there.
    """
    pusher, block = (Body(x, rng.uniform(0.5, 2), point_mass=True) for x in ("pusher", "block"))
    contacts = [PlaneContact("touch", Frame(pusher, axes=AHEAD), Frame(block))]
    off, way = rng.choice([0.0, rng.uniform(0, 0.3)]), rng.uniform(0.3, 1)
    at = off + way
    if rubs:
        law = ContactLaw(friction=rng.uniform(0.05, 0.5))
        floor = PlaneContact("floor", Frame(GROUND), Frame(block), law=law, planar=True)
        carried = AppliedForce("carried", Frame(pusher), (0, 0, G * pusher.mass))
        contacts += [floor, carried]
    if wall:
        contacts.append(PlaneContact("wall", Frame(GROUND, (at, 0, 0), BACK), Frame(block)))
    stops = 0.0 if rubs or wall else FREE
    start, end = (0, 0, 0, off, 0, 0), (FREE, 0, 0, at, 0, 0)
    ends = start, np.zeros(6), end, (FREE, 0, 0, stops, 0, 0)
    return state([pusher, block], contacts, "x", ends, rng.uniform(1, 2.5), G if rubs else 0.0)


KINDS: tuple[Callable[[np.random.Generator], Optimization], ...] = (
    partial(draw_lift, ceiling=False),
    partial(draw_lift, ceiling=True),
    partial(draw_sled, forces="x"),
    partial(draw_sled, forces="xz"),
    draw_walls,
    partial(draw_push, rubs=False, wall=False),
    partial(draw_push, rubs=True, wall=False),
    partial(draw_push, rubs=False, wall=True),
    partial(draw_push, rubs=True, wall=True),
)


def draw_program(number: int) -> Optimization:
    """Return the program of a number, the kinds in turn."""
    return KINDS[number % len(KINDS)](np.random.default_rng(number))


Modes = tuple[ContactMode, ...]


def list_modes(stated: Optimization) -> list[Modes]:
    """Return all combinations of modes of the contacts, in their order.

    What rubs on a floor that nothing lifts it from stays closed.
    """
    d = stated.dynamics
    smooth, rough = [Open(), Sliding()], [Sticking(), Sliding(), Sliding(forwards=False)]
    if "z" in stated.inputs:
        rough.append(Open())
    has_friction = np.asarray(d.friction(d.values(None))).ravel() > 0
    return list(product(*(rough if x else smooth for x in has_friction)))


def list_sequences(combinations: Sequence[Modes], most: int) -> Iterator[tuple[Modes, ...]]:
    """Yield all sequences of up to ``most`` phases, no two alike after each other."""
    for n in range(1, most + 1):
        for sequence in product(combinations, repeat=n):
            if all(a != b for a, b in pairwise(sequence)):
                yield sequence


def list_neighbours(
    sequence: tuple[Modes, ...], combinations: Sequence[Modes]
) -> Iterator[tuple[Modes, ...]]:
    """Yield sequences with one phase less, one more, or one with a contact in another mode.

    A phase more differs in one contact from the one before or after it.
    """
    beside = {
        x: [y for y in combinations if sum(a != b for a, b in zip(x, y, strict=True)) == 1]
        for x in set(sequence)
    }
    for k, phase in enumerate(sequence):
        yield sequence[:k] + sequence[k + 1 :]
        for modes in beside[phase]:
            yield (*sequence[:k], modes, *sequence[k + 1 :])
            yield (*sequence[:k], modes, *sequence[k:])
            yield (*sequence[: k + 1], modes, *sequence[k + 1 :])


@dataclass(eq=False)
class Compared:
    """What is found of one program; costs of sequences without a motion are infinite."""

    cost: float = np.nan  # of the optimum of the plain call
    sequence: tuple[Modes, ...] = ()
    costs: dict[tuple[Modes, ...], float] = field(default_factory=dict)  # none if it is not exact
    neighbours: list[tuple[Modes, ...]] = field(default_factory=list)

    @property
    def least(self) -> tuple[Modes, ...]:
        """The sequence of least cost."""
        return min(self.costs, key=lambda x: self.costs[x])

    @property
    def least_neighbour(self) -> float:
        """The least cost of a neighbour; infinite if none has a motion."""
        return min((self.costs[x] for x in self.neighbours), default=np.inf)

    @property
    def is_global(self) -> bool:
        """Whether no sequence costs less."""
        return self._costs_no_more(self.costs[self.least])

    @property
    def is_stationary(self) -> bool:
        """Whether no neighbour costs less."""
        return self._costs_no_more(self.least_neighbour)

    def _costs_no_more(self, other: float) -> bool:
        return bool(self.cost <= other + ALIKE * abs(self.cost) + ZERO)


@dataclass(frozen=True)
class EverySequence(Strategy[StatedProgram]):
    """Solves an optimum again in every sequence."""

    why = "the sequence of least cost may be another one"
    at_last = True

    compared: Compared
    combinations: Sequence[Modes]
    most: int  # phases

    def applies(self, search: Search, found: FoundMotion) -> bool:
        del search
        return found.exact is not None

    def solve(self, search: Search, found: FoundMotion) -> FoundMotion:
        exact, x, to = found.exact, found.program.transcription, self.compared
        names, combinations = [c.name for c in x.dynamics.contacts], self.combinations
        motion = PhasedMotion(found.program, 6, 1e-4, search.spent)
        known, total = KnownMotion.of_phases(exact.solved), exact.solved.borders[-1]
        to.cost, to.sequence = (
            exact.cost,
            tuple(tuple(phase.modes[name] for name in names) for phase in exact.sequence),
        )

        def measure(sequence: tuple[Modes, ...]) -> float:
            modes = [dict(zip(names, phase, strict=True)) for phase in sequence]
            phases = [ContactPhase(phase, total / len(sequence)) for phase in modes]
            try:
                solved = motion.solve(phases, known, briefly=True)
            except ValueError:
                return np.inf
            return sum(sum_costs(solved).values()) if solved.solution.ok else np.inf

        for sequence in list_sequences(combinations, self.most):
            to.costs[sequence] = measure(sequence)
        for sequence in {x for x in list_neighbours(to.sequence, combinations) if x}:
            if any(a == b for a, b in pairwise(sequence)):
                continue
            if sequence not in to.costs:
                to.costs[sequence] = measure(sequence)
            to.neighbours.append(sequence)
        return found


def describe(sequence: tuple[Modes, ...]) -> str:
    """Return a sequence in letters: open, sticking, sliding each way."""
    letters = {Open(): "o", Sticking(): "s", Sliding(): "+", Sliding(forwards=False): "-"}
    return " ".join("".join(letters[x] for x in modes) for modes in sequence)


def compare(number: int) -> tuple[Compared, Result]:
    """Return what is found of the program of a number, and its optimum, simulated again."""
    stated, compared = draw_program(number), Compared()
    combinations = list_modes(stated)
    every = EverySequence(compared, combinations, 3 if len(combinations) <= 4 else 2)
    return compared, replace(stated, plan=PLAN.then(every)).solve(verify=True)


def main(count: int, first: int) -> None:
    """Print a line for each program, then the shares."""
    print(machine())
    names = "program", "in steps", "exact", "sequence", "least", "of", "neighbour", "simulated", "s"
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}", flush=True)
    best, stationary, solved = 0, 0, 0
    for number in range(first, first + count):
        begin = process_time()
        x, found = compare(number)
        attrs, seconds = found.data.attrs, process_time() - begin
        if not x.costs:
            why = (attrs.get("not_exact") or found.stop_reason).splitlines()[0]
            print(f"| {number} | {found.objective:.6g} | {why} | {seconds:.0f} |", flush=True)
            continue
        solved, best, stationary = solved + 1, best + x.is_global, stationary + x.is_stationary
        figures = [
            f"{attrs['objective_in_steps']:.6g} | {x.cost:.6g} | {describe(x.sequence)}",
            f"{x.costs[x.least]:.6g} | {describe(x.least)} | {x.least_neighbour:.6g}",
            f"{attrs['resimulated_defect']:.2g} | {seconds:.0f}",
        ]
        print(f"| {number} | {' | '.join(figures)} |", flush=True)
    print(f"{solved} of {count} exact, global {best}, B-stationary among neighbours {stationary}")


if __name__ == "__main__":
    numbers = [int(x) for x in sys.argv[1:]]
    main(*(numbers + [50, 0][len(numbers) :]))
