"""An optimum simulated from its start, under its inputs and drives alone: `resimulate`.

What `optimize(verify=True)` records: how far the simulation ends from the optimum, and when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from nsopt.arrays import Array
from nsopt.elements import Slide, Turn
from nsopt.mechanics import (
    Axis,
    DrivenFreedom,
    Dynamics,
    Force,
    Frame,
    Load,
    Start,
    State,
    assemble,
)
from nsopt.mpcc import Newton
from nsopt.parameter import Parameter
from nsopt.schemes import Scales, Scheme, Variational
from nsopt.simulation import (
    Acceptance,
    ChainParameters,
    ChainStatus,
    LargestStep,
    StepKernel,
    StepProgram,
)
from nsopt.trajectory.transcription.base import TranscribedMotion

FINER = 4  # steps of the simulation in each step of the optimum
ATTEMPTS = 20  # at steps in one call of the compiled chain; it is called until the node is reached
SMALLEST = 2.0**-12  # step size that retries may come down to, over the largest


@dataclass(frozen=True, eq=False)
class HeldDrive(Force):
    """A drive of a freedom of a joint by a force that is a Parameter, constant over each step."""

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
    dynamics: Dynamics,
    motion: TranscribedMotion,
    inputs: Sequence[str],
    p: Array,
    scheme: Scheme | None,
) -> tuple[Array, dict[str, float]]:
    """Simulate a motion by the compiled stepper under its own inputs and drives.

    Returns coordinates (n + 1, nq) at the nodes, NaN after a step that could not be solved, and
    attributes, as `optimize` tells.

    Open loop, an unstable motion or one with impacts leaves its optimum after some time, even if
    every step is right. By `Variational` for a scheme that does not take the given step sizes.
    """
    begin = perf_counter()
    scheme = Variational() if scheme is None or scheme.chooses_h else scheme
    drives = list(_make_drives(dynamics))
    elements = (*dynamics.elements, *(drive for drive, _ in drives))
    full = assemble(dynamics.mechanism, elements, dynamics.gravity)
    # `TranscribedMotion.controls` has forces of drives by velocity, then inputs.
    index = {drive.force.name: k for drive, k in drives}
    index |= {name: dynamics.nv + k for k, name in enumerate(inputs)}
    stated = dict(zip(dynamics.parameter_names, p, strict=True))

    def numbers(now: float) -> Array:
        """Return the parameters of the simulated mechanism at a time."""
        controls = motion.controls(now)
        return np.array(
            [controls[index[x]] if x in index else stated[x] for x in full.parameter_names]
        )

    program = StepProgram(full, scheme, Acceptance())
    kernel = StepKernel(program, LargestStep(contacts=None), Newton())
    built = perf_counter()
    simulated = np.full_like(motion.nodes.q, np.nan)
    simulated[0] = motion.nodes.q[0]
    until = float(motion.t[0])
    for k, q in _simulate_nodes(full, kernel, motion, numbers):
        simulated[k], until = q, float(motion.t[k])
    return simulated, {
        "resimulated_defect": float(np.nanmax(np.abs(simulated - motion.nodes.q))),
        "resimulated_until": until,
        "resimulated_compile_time": built - begin,
        "resimulated_seconds": perf_counter() - built,
    }


def _simulate_nodes(
    d: Dynamics, kernel: StepKernel, motion: TranscribedMotion, numbers: Callable[[float], Array]
) -> Iterator[tuple[int, Array]]:
    """Yield the index and the coordinates of each node, until a step fails.

    ``numbers(t)`` are the parameters at a time, taken in the middle of each step.
    """
    t, nodes = motion.t, motion.nodes
    start = Start(nodes.q[0], nodes.v[0], float(t[0]))
    h = float(np.diff(t).max()) / FINER
    scales = Scales.of(d, start, numbers(t[0]), h, float(t[-1] - t[0])).numbers
    layout = kernel.layout
    z = layout.begin(start, h)
    for k in range(1, len(t)):
        size = (t[k] - t[k - 1]) / FINER
        for stop in np.linspace(t[k - 1], t[k], FINER + 1)[1:]:
            z, bounds = layout.restart(z), (h * SMALLEST, h, stop, 1)
            while layout.state(z).status == ChainStatus.RUNNING:
                known = ChainParameters(numbers(stop - size / 2), bounds, scales)
                z, _ = kernel(z, known.vector, ATTEMPTS)
            if layout.state(z).status == ChainStatus.STUCK:
                return
        yield k, layout.state(z).q


def _make_drives(d: Dynamics) -> Iterator[tuple[HeldDrive, int]]:
    """Yield a drive for each actuated coordinate, with its index in v."""
    owners, driven = d.v_owners, d.mechanism.driven_joints
    for joint in d.mechanism.joints:
        freedom = joint.freedom()
        if joint.name not in driven or joint.name not in owners or freedom is None:
            continue
        (axis,) = (step for step in freedom if isinstance(step, Axis))
        a, b = joint.frames
        moved = Turn(a, b) if any(axis.turn) else Slide(a, b)
        k = owners.index(joint.name)
        yield HeldDrive(f"drive of {joint.name}", moved, Parameter(f"drive_{k}", 0.0)), k
