"""Recursive Newton-Euler dynamics of trees: functions of joint coordinates.

q, v and their like have the order of `RelativeCoordinates`: free bodies first, then the joints in
the order of the mechanism. Parameters count by their values. Functions of forces refuse a mechanism
with loops, which `nsopt.robots.closed_loops` closes; kinematics are those of its tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from nsopt.checks import finite
from nsopt.mechanics import STILL, Frame, Mechanism, Motion, Recursion, Wrench, tree_reactions
from nsopt.parameter import Numbers, constant

SINGULAR = 1e-12
"""Eigenvalues, of a mass matrix scaled to ones on its diagonal, below which they count as zero."""

EARTH = (0.0, 0.0, -9.81)  # gravity [m/s^2] along the world's -z


def inverse_dynamics(
    mechanism: Mechanism, gravity: Numbers = EARTH, loaded: Sequence[Frame] = ()
) -> ca.Function:
    """Return (q, v, a) -> tau (nv,), the generalized forces of a motion.

    Parameters
    ----------
    mechanism : Mechanism
        Without loops; springs, friction and damping of its joints are not counted here.
    gravity : (3,) [m/s^2]
    loaded : sequence of Frame
        Where wrenches act from outside, on bodies. The function then has a fourth input ``load``
        (6, n): force [N] and torque [N m] about the origin of each frame, world axes.

    Notes
    -----
    [CHARMIE 2023, eqs. 29-34, errata for 30 and 31].
    """
    s = _Tree(mechanism)
    load = ca.SX.sym("load", 6, len(loaded))
    tau, _ = s.newton_euler(s.a, gravity, s.on_links(loaded, load))
    return s.function("inverse_dynamics", "q v a", load, tau=tau)


def bias_force(mechanism: Mechanism, gravity: Numbers = EARTH) -> ca.Function:
    """Return (q, v) -> b (nv,): M a + b = tau; Coriolis terms and weight."""
    s = _Tree(mechanism)
    tau, _ = s.newton_euler(ca.SX.zeros(s.a.numel()), gravity)
    return s.function("bias_force", "q v", b=tau)


def mass_matrix(mechanism: Mechanism) -> ca.Function:
    """Return (q) -> M (nv, nv), by composite links."""
    s = _Tree(mechanism)
    return s.function("mass_matrix", "q", M=s.mass())


def forward_dynamics(mechanism: Mechanism, gravity: Numbers = EARTH) -> ca.Function:
    """Return (q, v, tau) -> a (nv,), by elimination without fill-in from the tips of the tree.

    Raises
    ------
    ValueError
        If a joint moves without any inertia, with its name.
    """
    s = _Tree(mechanism)
    M = s.mass()
    s.check_regular(M)
    b, _ = s.newton_euler(ca.SX.zeros(s.a.numel()), gravity)
    acceleration = ca.ldl_solve(s.tau - b, *ca.ldl(M))
    return s.function("forward_dynamics", "q v tau", a=acceleration)


def forward_kinematics(mechanism: Mechanism, frames: Sequence[Frame]) -> ca.Function:
    """Return (q, v, a) -> position (3, n), axes (3, 3 n), velocity (6, n), acceleration (6, n).

    Parameters
    ----------
    frames : sequence of Frame
        On bodies; velocity and acceleration hold the linear ones of their origins, then the angular
        ones, world axes.
    """
    s = _Tree(mechanism, loops=True)
    motions = [s.motion(frame) for frame in frames]
    twists = ca.horzcat(*(ca.vertcat(m.v, m.w) for m in motions))
    rate = s.coordinates.rate_matrix(s.q) @ s.v
    change = ca.jtimes(twists, ca.vertcat(s.q, s.v), ca.vertcat(rate, s.a))
    return s.function(
        "forward_kinematics",
        "q v a",
        position=ca.horzcat(*(m.r for m in motions)),
        axes=ca.horzcat(*(m.A for m in motions)),
        velocity=twists,
        acceleration=change,
    )


def joint_reactions(
    mechanism: Mechanism, gravity: Numbers = EARTH, loaded: Sequence[Frame] = ()
) -> ca.Function:
    """Return (q, v, a) -> reactions (6, nj) of the joints of the tree, in their order.

    Force [N] and torque [N m] about the origin of frame b on its body, world axes; what drives the
    joint left out. Parameters as for `inverse_dynamics`.
    """
    s = _Tree(mechanism, weld=False)
    load = ca.SX.sym("load", 6, len(loaded))
    _, wrenches = s.newton_euler(s.a, gravity, s.on_links(loaded, load))
    branches = s.coordinates.branches
    reactions = tree_reactions(branches, s.recursion, s.motions, wrenches)
    columns = [reactions[joint.name] for joint in mechanism.joints if joint.name in reactions]
    reactions_of_all = ca.horzcat(ca.SX(6, 0), *columns)
    return s.function("joint_reactions", "q v a", load, reactions=reactions_of_all)


class _Tree:
    """The tree of a mechanism with its symbols; ``weld`` as for `LinkTree`.

    Joints that close loops are refused, or left out if ``loops``.
    """

    def __init__(self, mechanism: Mechanism, weld: bool = True, loops: bool = False) -> None:
        if not isinstance(mechanism, Mechanism):
            raise TypeError(f"a Mechanism is needed, got {type(mechanism).__name__} {mechanism!r}")
        self.coordinates = mechanism.tree
        in_tree = {id(branch.joint) for branch in self.coordinates.branches}
        for joint in mechanism.joints:
            if not loops and id(joint) not in in_tree:
                raise ValueError(
                    f"joint {joint.name!r} closes a loop, so forces in the tree alone say nothing: "
                    "use ClosedLoops, simulate, or a mechanism without that joint"
                )
        nq, nv = len(self.coordinates.q_names), len(self.coordinates.v_names)
        self.q = ca.SX.sym("q", nq)
        self.v, self.a, self.tau = (ca.SX.sym(name, nv) for name in ("v", "a", "tau"))
        self.links = self.coordinates.links(constant, weld)
        self.recursion = Recursion(self.links, self.q)

    @cached_property
    def motions(self) -> list[Motion]:
        """The motions of the frames of the links, world axes."""
        return self.recursion.motions(self.v)

    def motion(self, frame: Frame) -> Motion:
        """Return the motion of a frame, world axes."""
        self.check_frame(frame)
        k, placement = self.links.placements[frame.body.name if frame.body else None]
        link = self.motions[k] if k >= 0 else STILL
        return placement.of_frame(frame, constant).motion(link)

    def newton_euler(
        self, a: ca.SX, gravity: Numbers, loads: Mapping[int, Wrench] | None = None
    ) -> tuple[ca.SX, list[Wrench]]:
        g = ca.SX(ca.DM(finite("gravity", gravity, (3,))))
        return self.recursion.newton_euler(self.v, a, g, loads)

    def mass(self) -> ca.SX:
        return self.recursion.mass_matrix(self.v.numel())

    def on_links(self, frames: Sequence[Frame], load: ca.SX) -> dict[int, Wrench]:
        """Return wrenches (6, n) at frames as loads on links."""
        loads: dict[int, Wrench] = {}
        for i, frame in enumerate(frames):
            self.check_frame(frame)
            if frame.body is None:
                raise ValueError("a load on the ground moves nothing: put its frame on a body")
            k, placement = self.links.placements[frame.body.name]
            A = self.motions[k].A
            f, n = A.T @ load[:3, i], A.T @ load[3:, i]
            n += ca.cross(placement.of_frame(frame, constant).c, f)
            sums = loads.get(k, (ca.SX.zeros(3), ca.SX.zeros(3)))
            loads[k] = (sums[0] + f, sums[1] + n)
        return loads

    def check_frame(self, frame: Frame) -> None:
        """Refuse anything but a frame of this mechanism."""
        if not isinstance(frame, Frame):
            raise TypeError(f"frames are needed, such as Frame(body, origin), got {frame!r}")
        if frame.body is not None and all(x is not frame.body for x in self.coordinates.bodies):
            raise ValueError(
                f"a frame sits on {frame.label}, which is not in the mechanism: take the bodies "
                "of mechanism.bodies"
            )

    def check_regular(self, M: ca.SX) -> None:
        """Refuse a mass matrix that is singular at random q: it is then so nearly everywhere."""
        q = np.random.default_rng(0).uniform(-1, 1, self.q.numel())
        posed = self.coordinates.renormalise(ca.SX(q))
        numbers = np.asarray(ca.evalf(ca.substitute(ca.densify(M), self.q, posed)))
        scale = np.sqrt(np.where(np.diag(numbers) > 0, np.diag(numbers), 1.0))
        values, vectors = np.linalg.eigh(numbers / np.outer(scale, scale))
        if values.size and values[0] < SINGULAR:
            k = int(np.argmax(np.abs(vectors[:, 0] / scale)))
            owner, what = self.coordinates.v_names[k].rsplit(".", 1)
            raise ValueError(
                f"joint {owner!r} can move ({what}) without any inertia, so its acceleration is "
                "not determined: give what it moves a mass and an inertia, or make it Fixed"
            )

    def function(
        self, name: str, arguments: str, load: ca.SX | None = None, **results: ca.SX
    ) -> ca.Function:
        """Return a function by its expressions; loads are an input if there are any."""
        names = arguments.split()
        symbols = [getattr(self, n) for n in names]
        if load is not None and load.numel():
            names, symbols = [*names, "load"], [*symbols, load]
        outputs = [ca.densify(x) for x in results.values()]
        return ca.Function(name, symbols, outputs, names, list(results))
