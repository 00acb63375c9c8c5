"""Recursive dynamics: time per state beside pinocchio, growth with size, and the paper's measure.

Pinocchio is left out with a word where it is missing, and so are the files of robots:
``pip install 'nsopt[bench,robots]'``. All states are given in one call, on one thread, but for
pinocchio's crba, which Python calls state by state. nsopt makes machine code of one robot, whose
numbers are in it; pinocchio reads any robot's.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

import casadi as ca
import numpy as np
from common import Array, in_turn, machine, ratio, slope, table

from nsopt import (
    Fixed,
    Frame,
    Mechanism,
    Prismatic,
    Solver,
    Sqp,
    StepBounds,
    assemble,
    simulate,
)
from nsopt.animation import animate
from nsopt.leaves import MappedLeaf
from nsopt.mechanics.coordinates.spanning_tree import Branch
from nsopt.problem import problem_folder
from nsopt.robots import (
    DHRow,
    forward_dynamics,
    forward_kinematics,
    inverse_dynamics,
    load_urdf,
    mass_matrix,
    serial_from_dh,
)

STATES = 10_000
AGREEMENT = 1e-9
FILES = ("ur5_robot", "panda", "solo12")
CHARMIE = "CHARMIE, main tree"
CHAINS = (2, 4, 8, 16, 32, 64)
ELIMINATED = 16
"""Bodies of the longest chain whose forward dynamics is compiled: its mass matrix is full."""
STEPS, FRAMES = 1000, 25
BEST = 2
"""LLVM's level of optimisation."""
KEPT = (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_PARAMETER)
"""Instructions that are no operations."""


def charmie_tree() -> Mechanism:
    """Return the 24 bodies and 21 freedoms of CHARMIE's main tree."""
    sys.path.insert(0, str(problem_folder() / "charmie"))
    try:
        robot = importlib.import_module("_robot")
    finally:
        sys.path.pop(0)
    build = robot._Build()
    for link in robot.LINKS:
        build.link(link)
    return Mechanism(build.bodies.values(), build.joints, "relative")


def chain(n: int) -> Mechanism:
    """Return a serial robot of n links of which no two axes are parallel."""
    rng = np.random.default_rng(n)
    return serial_from_dh(
        DHRow(
            *rng.uniform(0.2, 1.2, 4), mass=1.0, com=rng.uniform(-0.1, 0.1, 3), inertia=(0.1,) * 3
        )
        for _ in range(n)
    )


def robots() -> dict[str, Mechanism]:
    """Return the robots of the comparison."""
    trees = {}
    try:
        files = metadata.files("example-robot-data") or []
        listed = {file.stem: str(file.locate()) for file in files if file.suffix == ".urdf"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of what a file states in vain
            for name in FILES:
                trees[name] = replace(load_urdf(listed[name], merge_fixed=True), mimics=())
    except (ImportError, metadata.PackageNotFoundError) as error:
        print(f"robots of example-robot-data are left out: {error}")
    return {**trees, CHARMIE: charmie_tree()}


def operations(function: ca.Function) -> int:
    """Return the number of arithmetic operations of a function."""
    return sum(function.instruction_id(k) not in KEPT for k in range(function.n_instructions()))


def states(function: ca.Function, count: int) -> list[Array]:
    """Return random inputs (n, count), every column a state."""
    rng = np.random.default_rng(0)
    return [rng.uniform(-1, 1, (function.size1_in(i), count)) for i in range(function.n_in())]


class Batch:
    """A function at many states, as machine code."""

    def __init__(self, function: ca.Function, count: int = STATES) -> None:
        begin = time.perf_counter()
        self.leaf = MappedLeaf(function)
        self.leaf.compile(BEST)
        self.seconds = time.perf_counter() - begin
        self.count = count
        self.inputs = [np.ascontiguousarray(x.T) for x in states(function, count)]

    def __call__(self) -> float:
        """Return the time per state [us]."""
        return timed(lambda: self.leaf(self.inputs)) / self.count


def timed(call: Callable[[], Any]) -> float:
    """Return the time of a call [us]."""
    begin = time.perf_counter()
    call()
    return 1e6 * (time.perf_counter() - begin)


def depth_first(mechanism: Mechanism) -> list[Branch]:
    """Return the branches with each subtree in one piece, which pinocchio's crba relies on."""
    ways: dict[str, tuple[int, ...]] = {}
    for k, branch in enumerate(mechanism.tree.branches):
        before = ways[branch.parent_frame.body.name] if branch.parent_frame.body else ()
        ways[branch.body.name] = (*before, k)
    return sorted(mechanism.tree.branches, key=lambda branch: ways[branch.body.name])


class Pinocchio:
    """A tree of revolute, prismatic and fixed joints, frame a inside, as a model of pinocchio."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.pin: Any = importlib.import_module("pinocchio")
        pin = self.pin
        self.model = pin.Model()
        seats = {None: (0, pin.SE3.Identity())}
        ids = {}
        for branch in depth_first(mechanism):
            joint, body = branch.joint, branch.body
            above = branch.parent_frame.body
            parent, seat = seats[above.name if above else None]
            at = seat * self._pose(branch.parent_frame)
            if not isinstance(joint, Fixed):
                kind = pin.JointModelPZ() if isinstance(joint, Prismatic) else pin.JointModelRZ()
                parent = self.model.addJoint(parent, kind, at, joint.name)
                ids[joint.name], at = parent, pin.SE3.Identity()
            seat = at * self._pose(branch.child_frame).inverse()
            J = np.asarray(body.inertia, dtype=float)
            J = J if J.ndim == 2 else np.diag(J)
            inertia = pin.Inertia(float(body.mass), np.zeros(3), J)
            self.model.appendBodyToJoint(parent, inertia, seat)
            seats[body.name] = parent, seat
        moved = [j.name for j in mechanism.joints if j.name in ids]
        self.at = np.array([self.model.idx_vs[ids[name]] for name in moved])
        self.data = self.model.createData()

    def _pose(self, frame: Frame) -> Any:
        return self.pin.SE3(np.asarray(frame.axes, dtype=float), np.asarray(frame.origin))

    def columns(self, x: Array) -> list[Array]:
        """Return states in the order of the model, one array each."""
        sorted_ = np.zeros_like(x)
        sorted_[self.at] = x
        return [np.ascontiguousarray(column) for column in sorted_.T]

    def value(self, name: str, *state: Array) -> Array:
        """Return what a function of pinocchio gives, in nsopt's order, column by column."""
        value = np.array(getattr(self.pin, name)(self.model, self.data, *state))
        if value.ndim == 1:
            return np.asarray(value[self.at])
        full = np.triu(value) + np.triu(value, 1).T
        return np.asarray(full[np.ix_(self.at, self.at)].ravel())

    def loop(self, name: str, inputs: Sequence[Array]) -> Callable[[], float]:
        """Return what evaluates a function for all states: time per state [us].

        In one call on one thread where pinocchio has that, else state by state from Python.
        """
        pin, columns = self.pin, [self.columns(x) for x in inputs]
        if batched := getattr(pin, f"{name}InParallel", None):
            pool, matrices = pin.ModelPool(self.model, 1), [np.array(x).T for x in columns]
            matrices = [np.asfortranarray(x) for x in matrices]
            results = np.zeros_like(matrices[0], order="F")
            return lambda: timed(lambda: batched(1, pool, *matrices, results)) / results.shape[1]
        function, arrays = getattr(pin, name), list(zip(*columns, strict=True))

        def call() -> None:
            for state in arrays:
                function(self.model, self.data, *state)

        return lambda: timed(call) / len(arrays)


MODULES: Mapping[str, tuple[Callable[[Mechanism], ca.Function], str]] = {
    "inverse dynamics": (inverse_dynamics, "rnea"),
    "mass matrix": (mass_matrix, "crba"),
    "forward dynamics": (forward_dynamics, "aba"),
}


def kinematics(mechanism: Mechanism) -> ca.Function:
    """Return poses, velocities and accelerations of all bodies."""
    return forward_kinematics(mechanism, [Frame(body, axes=np.eye(3)) for body in mechanism.bodies])


def poses(mechanism: Mechanism) -> ca.Function:
    """Return positions and axes of all bodies alone."""
    f = kinematics(mechanism)
    q, v, a = (ca.SX.sym(name, f.size1_in(i)) for i, name in enumerate("qva"))
    return ca.Function("poses", [q], f(q, v, a)[:2], ["q"], ["position", "axes"])


def disagreement(function: ca.Function, peer: Pinocchio, name: str) -> float:
    """Return the largest relative difference over ten states."""
    inputs = states(function, 10)
    worst = 0.0
    for k in range(10):
        ours = np.array(function(*(x[:, k] for x in inputs))).ravel(order="F")
        theirs = peer.value(name, *(peer.columns(x)[k] for x in inputs))
        worst = max(worst, float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
    return worst


def compare(repeats: int) -> None:
    """Print times beside pinocchio's (a), checked to agree before."""
    rows = []
    for name, robot in robots().items():
        try:
            peer = Pinocchio(robot)
        except ImportError as error:
            peer = None
            print(f"pinocchio is left out: {error}")
        for what, (make, theirs) in MODULES.items():
            function = make(robot)
            batch = Batch(function)
            calls: dict[str, Callable[[], float]] = {"nsopt": batch}
            off = 0.0
            if peer is not None:
                off = disagreement(function, peer, theirs)
                if not off < AGREEMENT:
                    raise ValueError(f"{what} of {name} differs from pinocchio's by {off:.1e}")
                calls["pinocchio"] = peer.loop(theirs, states(function, STATES))
            for call in calls.values():
                call()
            times = in_turn(calls, repeats)
            size = str(len(robot.tree.v_names))
            ours = [f"{batch.seconds:.1f}", f"{median(times['nsopt']):.3f}"]
            rows.append([name, size, what, *ours, *beside(times, off)])
    head = ["robot", "freedoms", "", "compile [s]", "nsopt [us]", "pinocchio [us]", "ratio", "off"]
    print(f"\n(a) time per state, {STATES} states in a batch, medians\n\n{table(head, rows)}")


def beside(times: Mapping[str, list[float]], off: float) -> list[str]:
    """Return pinocchio's time, nsopt's over it, and how far both are apart."""
    if "pinocchio" not in times:
        return ["-"] * 3
    theirs = times["pinocchio"]
    return [f"{median(theirs):.3f}", f"{ratio(times['nsopt'], theirs):.2f}", f"{off:.0e}"]


def scaling(repeats: int) -> None:
    """Print how operations and times grow with the length of a chain (b)."""
    rows, counts, times = [], [], []
    for n in CHAINS:
        robot = chain(n)
        functions = {what: make(robot) for what, (make, _) in MODULES.items()}
        batch = Batch(functions["inverse dynamics"], STATES // 4)
        solved = Batch(functions["forward dynamics"], STATES // 4) if n <= ELIMINATED else None
        seconds = in_turn({"inverse": batch, "forward": solved or (lambda: np.nan)}, repeats)
        counts.append(operations(functions["inverse dynamics"]))
        times.append(median(seconds["inverse"]))
        rows.append(
            [
                str(n),
                *(str(operations(f)) for f in functions.values()),
                f"{batch.seconds:.1f}",
                f"{times[-1]:.3f}",
                f"{1e3 * times[-1] / n:.1f}",
                f"{solved.seconds:.1f}" if solved else "-",
                f"{median(seconds['forward']):.3f}" if solved else "-",
            ]
        )
    head = ["bodies", "ops inverse", "ops mass", "ops forward", "compile [s]", "inverse [us]"]
    head += ["per body [ns]", "compile forward [s]", "forward [us]"]
    print(f"\n(b) serial chains\n\n{table(head, rows)}")
    each = (counts[-1] - counts[-2]) / (CHAINS[-1] - CHAINS[-2])
    growth = f"time ~ n^{slope(CHAINS[2:], times[2:]):.2f} from n = 8 on"
    print(f"\ninverse dynamics: {each:.0f} operations a further body; {growth}")


def arms() -> dict[str, Mechanism]:
    """Return the robots of the paper's measure."""
    return {**{f"arm, {n} freedoms": chain(n) for n in (2, 4, 6)}, CHARMIE: charmie_tree()}


def single(function: ca.Function) -> Callable[[], float]:
    """Return what makes 1000 calls of one state each: time of all [ms]."""
    batch = Batch(function, STEPS)
    given = [[x[k].data for x in batch.inputs] for k in range(STEPS)]
    found = [np.empty(function.nnz_out(i)).data for i in range(function.n_out())]

    def call() -> None:
        for state in given:
            batch.leaf.evaluate(1, state, found)

    return lambda: timed(call) / 1e3


def whole(function: ca.Function) -> Callable[[], float]:
    """Return what makes one call of 1000 states: time [ms]."""
    batch = Batch(function, STEPS)
    return lambda: batch() * STEPS / 1e3


def drawing(mechanism: Mechanism) -> float:
    """Return the time that a GIF of 1000 pictures would take, from one of fewer [ms]."""
    dynamics = assemble(mechanism, gravity=(0.0, 0.0, -9.81))
    h = 1e-3
    how = {"solver": Solver(backend=Sqp()), "progress": False, "check": None}
    result = simulate(dynamics, duration=FRAMES * h, steps=StepBounds(h, h), **how)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arm.gif")
        return timed(lambda: animate(result, path, fps=1 / h)) / 1e3 * STEPS / (FRAMES + 1)


def paper(repeats: int) -> None:
    """Print the measure of [CHARMIE 2023, Table 5] (c)."""
    rows = []
    for name, robot in arms().items():
        functions = {"kinematics": poses(robot), "dynamics": inverse_dynamics(robot)}
        calls = {
            f"{what}, {how.__name__}": how(f)
            for what, f in functions.items()
            for how in (whole, single)
        }
        for call in calls.values():
            call()
        times = {key: median(seconds) for key, seconds in in_turn(calls, repeats).items()}
        line = []
        for how in ("whole", "single"):
            alone = times[f"kinematics, {how}"]
            line += [alone, alone + times[f"dynamics, {how}"]]
        shown = line[1] + drawing(robot)
        rows.append([name, *(f"{x:.3f}" for x in line), f"{shown:.0f}"])
    head = ["1000 steps [ms]", "batch: kinematics", "with dynamics", "single: kinematics"]
    head += ["with dynamics", "with animation"]
    print(f"\n(c) the paper's measure, Table 5; compiled before\n\n{table(head, rows)}")
    print(f"\nanimation: a GIF of {FRAMES + 1} pictures, scaled to {STEPS}")


def modules() -> None:
    """Print operations per module (d)."""
    rows = []
    makers = {"poses": poses, "kinematics": kinematics}
    makers |= {what: make for what, (make, _) in MODULES.items()}
    for name, robot in {**arms(), **robots()}.items():
        rows.append([name, *(str(operations(make(robot))) for make in makers.values())])
    print(f"\n(d) operations\n\n{table(['robot', *makers], rows)}")


def main() -> None:
    """Print the four tables."""
    parser = argparse.ArgumentParser(description="Recursive dynamics of robots.")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", nargs="+", default=list("abcd"), choices=list("abcd"))
    options = parser.parse_args()
    print(machine())
    if "a" in options.only:
        compare(options.repeats)
    if "b" in options.only:
        scaling(options.repeats)
    if "c" in options.only:
        paper(options.repeats)
    if "d" in options.only:
        modules()


if __name__ == "__main__":
    main()
