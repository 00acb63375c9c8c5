"""An optimum simulated from its start, under its inputs and drives alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np

from nsopt.elements.drives import DrivenFreedom, Slide, Turn
from nsopt.mechanics import Dynamics, Force, Frame, Load, Parameter, State, assemble
from nsopt.mechanics.freedom import Axis
from nsopt.mpcc import Evaluator, Newton, compile_native
from nsopt.stepping import Acceptance, LargestStep, Scales, Scheme, Start
from nsopt.stepping.attempt import RUNNING, STUCK, Attempt
from nsopt.stepping.program import StepProgram
from nsopt.trajectory.parts import Array
from nsopt.trajectory.transcription import Motion

SMALLEST = 2.0**-12
"""Part of a step that retries may come down to."""


class Resimulation(NamedTuple):
    """How a simulation of an optimum went.

    Attributes
    ----------
    q : (n + 1, nq)
        At the times of the nodes; not a number after a step that nothing solved.
    deviation : float [m, rad]
        Largest distance of a coordinate from that of the optimum.
    until : float [s]
        How far it came.
    seconds : float
    """

    q: Array
    deviation: float
    until: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Held(Force):
    """A drive whose force is a Parameter, which changes from step to step."""

    name: str
    freedom: DrivenFreedom
    force: Parameter

    external = True

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.freedom.a, self.freedom.b

    def loads(self, s: State) -> list[Load]:
        return [Load(self.freedom.rate(s), s.value(self.force))]


def resimulate(
    dynamics: Dynamics, motion: Motion, inputs: Sequence[str], p: Array, scheme: Scheme, finer: int
) -> Resimulation:
    """Return a simulation of a motion by the compiled stepper, open loop.

    What is unstable or bounces strays from its optimum after a while, whatever is right.

    Parameters
    ----------
    dynamics : Dynamics
    motion : Motion
    inputs : sequence of str
        Parameters that change with time.
    p : (np,)
        Parameters of the mechanism.
    scheme : Scheme
        One whose h is given.
    finer : int
        Steps for each of the motion.
    """
    begin = perf_counter()
    driven = list(_held(dynamics))
    elements = (*dynamics.elements, *(held for held, _ in driven))
    full = assemble(dynamics.mechanism, elements, dynamics.gravity)
    names = [x.name for x in full.parameters]
    places = {held.force.name: k for held, k in driven}
    places |= {name: dynamics.nv + k for k, name in enumerate(inputs)}
    stated = dict(zip((x.name for x in dynamics.parameters), p, strict=True))

    def numbers(now: float) -> Array:
        """Return the parameters at a time."""
        acting = motion.acting(now)
        return np.array([acting[places[x]] if x in places else stated[x] for x in names])

    found = np.full_like(motion.nodes.q, np.nan)
    found[0] = motion.nodes.q[0]
    until = float(motion.t[0])
    for k, q in _steps(full, motion, numbers, scheme, finer):
        found[k], until = q, float(motion.t[k])
    off = np.abs(found - motion.nodes.q)
    return Resimulation(found, float(np.nanmax(off)), until, perf_counter() - begin)


def _steps(
    d: Dynamics,
    motion: Motion,
    numbers: Callable[[float], Array],
    scheme: Scheme,
    finer: int,
) -> Iterator[tuple[int, Array]]:
    """Yield nodes and their coordinates as far as steps are solved."""
    t, nodes = motion.t, motion.nodes
    attempt = Attempt(StepProgram(d, scheme, Acceptance()), LargestStep(), Newton())
    call = Evaluator(compile_native(attempt.function).function)
    start = Start(nodes.q[0], nodes.v[0], float(t[0]))
    h = float(np.diff(t).max()) / finer
    scales = Scales.of(d, start, numbers(t[0]), h, float(t[-1] - t[0])).numbers
    z = np.concatenate([[t[0]], start.q, start.v, [h], np.zeros(attempt.unknowns), [RUNNING]])
    for k in range(1, len(t)):
        size = (t[k] - t[k - 1]) / finer
        for stop in np.linspace(t[k - 1], t[k], finer + 1)[1:]:
            z[-1] = RUNNING
            while z[-1] == RUNNING:
                limits = np.array([h * SMALLEST, h, stop])
                z, _ = call(z, np.concatenate([numbers(stop - size / 2), limits, scales]))
            if z[-1] == STUCK:
                return
        yield k, z[1 : 1 + d.nq]


def _held(d: Dynamics) -> Iterator[tuple[Held, int]]:
    """Yield a drive for each actuated coordinate, with its place in v."""
    driven = {x.joint for x in d.mechanism.actuators}
    owners = d.v_owners
    for joint in d.mechanism.joints:
        freedom = joint.freedom()
        if joint.name not in driven or joint.name not in owners or freedom is None:
            continue
        (axis,) = (step for step in freedom if isinstance(step, Axis))
        a, b = joint.frames
        moved = Turn(a, b) if any(axis.turn) else Slide(a, b)
        k = owners.index(joint.name)
        yield Held(f"drive of {joint.name}", moved, Parameter(f"drive_{k}", 0.0)), k
