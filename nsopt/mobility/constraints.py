"""Constraints of loops and their derivatives of any order, near a posture [mobility 2016, 2-4]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nsopt.algebra import JetScalars, Scalars, TimeJet, evaluate
from nsopt.arrays import Array
from nsopt.checks import check_names
from nsopt.mechanics import Constraint, Mechanism, Motion, State
from nsopt.mobility.linkages import cut_bodies, pose_bodies
from nsopt.mobility.screws import (
    ScrewTree,
    build_screw_tree,
    differentiate_poses,
    differentiate_twists,
    move_joints,
)
from nsopt.mobility.topology import Topology
from nsopt.parameter import parameters_in, substitute

CLOSED = 1e-9  # residual [m, or 1] up to which loops count as closed
ALIGNED = 0.5  # cosine below which frames are turned the wrong way


class LoopConstraints:
    """The constraints of the cut joints of a mechanism, h(u) = 0 with u = 0 at a posture.

    Parameters
    ----------
    mechanism : Mechanism
        Of any coordinates; those of its spanning tree are used. Masses do not matter.
    q : (nq,), optional
        Coordinates of `Mechanism.tree`; by default those of the poses that the bodies state.
    parameters : mapping of name to float, optional
        Values of Parameters in place of those stated.
    t : float [s]
        At which joints that move with time are held.

    Raises
    ------
    ValueError
        If the mechanism has no loop, q is not that of its tree, or loops are open there.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        q: ArrayLike | None = None,
        parameters: Mapping[str, float] | None = None,
        t: float = 0.0,
    ) -> None:
        if not isinstance(mechanism, Mechanism):
            raise TypeError(f"mobility is that of a Mechanism, got {mechanism!r}")
        mechanism = _restate(mechanism, parameters or {})
        self.mechanism, self.t = mechanism, float(t)
        self.topology = Topology.of(mechanism)
        if not self.topology.cycles:
            raise ValueError(
                "the mechanism has no loop: all its joints are in a tree, and each freedom of a "
                "joint is one of the mechanism; contacts and joints with clearance close none"
            )
        self.parameters = parameters_in((mechanism,))
        self.p = np.array([x.value for x in self.parameters.values()], dtype=float)
        self.symbols = ca.SX.sym("p", len(self.p))
        stated = mechanism.tree.start(refuse=q is None)[0]
        self.q = stated if q is None else np.asarray(q, dtype=float)
        if self.q.shape != stated.shape or not np.all(np.isfinite(self.q)):
            names = ", ".join(mechanism.tree.q_names)
            raise ValueError(f"q must be {len(stated)} finite numbers, {names}; got {q!r}")
        self._check_closed()

    def _check_closed(self) -> None:
        h = self.value(np.zeros(self.n))
        k = int(np.argmax(np.abs(h)))  # the row that is off most
        if np.abs(h[k]) > CLOSED:
            raise ValueError(
                f"the mechanism is not assembled: joint {self.owners[k]!r} is open by "
                f"{np.abs(h[k]):.3g} (m, or 1 for directions); correct the poses of its bodies, or "
                "give joint coordinates q at which the loops close"
            )
        # Residuals vanish also where frames are turned by half a turn [mobility 2016, remark 2].
        s = self._state(self.motions(ca.SX.zeros(self.n)))
        for joint in self.cut:
            cosines = self._at_values(joint.alignment(s))
            if np.any(np.asarray(ca.evalf(cosines)) < ALIGNED):
                raise ValueError(
                    f"the mechanism is not assembled: joint {joint.name!r} closes with its frames "
                    "turned the wrong way; turn one of them, or the body that it is on"
                )

    @property
    def n(self) -> int:
        """The number of coordinates u."""
        return len(self.names)

    @property
    def m(self) -> int:
        """The number of rows of h."""
        return len(self.owners)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the coordinates: the rates of the joints of the tree."""
        return self.tree.names

    @cached_property
    def cut(self) -> tuple[Constraint, ...]:
        """The joints that are not in the spanning tree."""
        names = {cycle.cut for cycle in self.topology.cycles}
        return tuple(joint for joint in self.mechanism.joints if joint.name in names)

    @cached_property
    def owners(self) -> tuple[str, ...]:
        """The name of the joint of each row of h, (m,)."""
        sizes = [condition.function.numel_out(0) for condition in self._conditions]
        return tuple(j.name for j, size in zip(self.cut, sizes, strict=True) for _ in range(size))

    @cached_property
    def tree(self) -> ScrewTree:
        """The screws of the joints of the tree."""
        return build_screw_tree(self.mechanism, self._state({}).value, self.symbols)

    def _state(self, motions: Mapping[Any, Motion]) -> State:
        symbols = {name: self.symbols[k] for k, name in enumerate(self.parameters)}
        return State(ca.SX(self.t), motions, symbols)

    def _at_values(self, x: ca.SX) -> ca.SX:
        """Return an expression with the values of Parameters in place of `symbols`."""
        return ca.substitute(x, self.symbols, ca.SX(ca.DM(self.p)))

    @cached_property
    def _conditions(self) -> list[_Condition]:
        return [self._make_condition(joint) for joint in self.cut]

    def _make_condition(self, joint: Constraint) -> _Condition:
        """Return the condition of a joint on the poses of its bodies [mobility 2016, eqs. 2-5]."""
        bodies = [frame.body for frame in joint.frames if frame.body is not None]
        names = tuple(dict.fromkeys(body.name for body in bodies))
        pose = ca.SX.sym("pose", 12, len(names))
        zero = ca.SX.zeros(3)
        motions = {
            name: Motion(pose[:3, k], ca.reshape(pose[3:, k], 3, 3), zero, zero)
            for k, name in enumerate(names)
        }
        residual = ca.densify(joint.residual(self._state(motions)))
        arguments = [pose, self.symbols]
        # How steep rows are, whatever the unit of a residual: by a small motion of its last body.
        last = bodies[-1].name
        twist, frame = ca.SX.sym("twist", 6), joint.frames[-1 if joint.frames[-1].body else 0]
        displaced = {last: _displace(motions[last], self._state(motions).motion(frame).r, twist)}
        moved = joint.residual(self._state(motions | displaced))
        gradient = ca.substitute(ca.jacobian(moved, twist), twist, ca.SX.zeros(6))
        return _Condition(
            names,
            [self.topology.bodies.index(name) for name in names],
            ca.Function("residual", arguments, [residual]),
            ca.Function("gradient", arguments, [ca.densify(gradient)]),
        )

    @cached_property
    def joint_places(self) -> ca.Function:
        """(u) -> (3, number of frames) [m]: where the frames of joints are, joint after joint."""
        u = ca.SX.sym("u", self.n)
        state = self._state(self.motions(u))
        frames = [frame for joint in self.mechanism.joints for frame in joint.frames]
        places = ca.horzcat(*(state.motion(frame).r for frame in frames))
        return ca.Function("joint_places", [u], [ca.densify(self._at_values(places))])

    @cached_property
    def size(self) -> float:
        """The largest distance between frames of joints at the posture [m]; 1 if all coincide."""
        x = np.asarray(self.joint_places(np.zeros(self.n))).T
        return float(np.max(np.linalg.norm(x[:, None] - x, axis=2))) or 1.0

    def row_gradients(self) -> Array:
        """Return the gradient of each row by a displacement of the joint's last moving frame.

        (m, 6): by three turns [rad] about its origin, then by translations [m], in world axes.
        """
        poses = np.asarray(self.tree.screws_and_poses(self.q, self.p)[1])
        return np.concatenate(
            [np.asarray(c.gradient(poses[:, c.columns], self.p)) for c in self._conditions]
        )

    @cached_property
    def closure(self) -> ca.Function:
        """(u) -> h (m,) and its derivative J (m, n), of the poses of all bodies by CasADi."""
        u = ca.SX.sym("u", self.n)
        h = self._at_values(self.residual(u))
        return ca.Function("closure", [u], [ca.densify(h), ca.densify(ca.jacobian(h, u))])

    def residual(self, u: ca.SX) -> ca.SX:
        """Return h (m,) at u (n,) as an expression of u and the parameters, `symbols`."""
        s = self._state(self.motions(u))
        return ca.vertcat(*(joint.residual(s) for joint in self.cut))

    def motions(self, u: ca.SX) -> dict[str, Motion]:
        """Return the poses of the bodies at u (n,), at rest."""
        q = move_joints(self.mechanism, ca.SX(self.q), u)
        return self.mechanism.tree.motions(q, ca.SX.zeros(self.n), self._state({}).value)

    @cached_property
    def with_cut_bodies(self) -> LoopConstraints:
        """The same loops by `cut_bodies` at the same posture: cut joints have coordinates too."""
        motions = self.motions(ca.SX.zeros(self.n))
        numbers = {name: Motion(*map(self._at_values, x)) for name, x in motions.items()}
        return LoopConstraints(cut_bodies(pose_bodies(self.mechanism, numbers)), t=self.t)

    def joint_screws(self) -> dict[str, Array]:
        """Return the screws of each joint at the posture, (number, 6) in world axes, cut ones too.

        Those of a free body are under its name, those of a joint that mimics another under the name
        of that one; a joint without coordinates, such as `Distance`, has none.
        """
        whole = self.with_cut_bodies
        screws = np.asarray(whole.tree.screws_and_poses(whole.q, whole.p)[0]).T
        found: dict[str, list[Array]] = {}
        for link, screw in zip(whole.tree.links, screws, strict=True):
            if link.coordinate >= 0:
                owner = whole.names[link.coordinate].rsplit(".", 1)[0]
                found.setdefault(owner, []).append(screw)
        return {owner: np.array(own) for owner, own in found.items()}

    def value(self, u: Array) -> Array:
        """Return h (m,)."""
        return np.asarray(self.closure(u)[0]).ravel()

    def jacobian(self, u: Array | None = None) -> Array:
        """Return J (m, n), at the posture by default."""
        return np.asarray(self.closure(np.zeros(self.n) if u is None else u)[1])

    def derivatives(self, *motion: ArrayLike) -> Array:
        """Return H^(k) = d^k h / dt^k for k = 1, 2, ... along a motion [mobility 2016, eq. 35].

        Parameters
        ----------
        motion : (n,) or (n, count), each
            du/dt, d^2u/dt^2, ... at the posture, of one motion or of ``count``.

        Returns
        -------
        (order, m) or (order, m, count)
        """
        u = np.stack([np.asarray(x, dtype=float) for x in motion])
        one = u.ndim == 2
        u = u[:, :, None] if one else u
        screws, poses = (np.asarray(x) for x in self.tree.screws_and_poses(self.q, self.p))
        H = self.derivatives_in(Scalars(), screws, poses, list(map(float, self.p)), u)
        return H[:, :, 0] if one else H

    def derivatives_in(
        self,
        scalars: Scalars,
        screws: NDArray[Any],
        poses: NDArray[Any],
        p: list[Any],
        x: NDArray[Any],
    ) -> NDArray[Any]:
        """Return the derivatives of h (order, m, count) in any kind of numbers, of count motions.

        Parameters
        ----------
        scalars : Scalars
            The arithmetic of these numbers.
        screws, poses : (6, number of links), (12, number of bodies)
            As by `ScrewTree.screws_and_poses`.
        p : list of numbers or TimeJet
            Parameters; as jets they may be exponents too.
        x : (order, n, count)
            Derivatives of the coordinates by time, from the first on.
        """
        u = np.concatenate([np.zeros_like(x[:1]), x])
        twists = differentiate_twists(self.tree, screws[:, :, None], u, scalars)
        still = np.zeros((len(x), 6, x.shape[2]), dtype=x.dtype)
        rows = []
        for condition in self._conditions:
            entries = []
            for name, column in zip(condition.bodies, condition.columns, strict=True):
                link = self.tree.body_links[name]
                twist = twists[link] if link >= 0 else still
                pose = differentiate_poses(twist, poses[:, column, None])
                entries += [TimeJet(pose[:, k]) for k in range(12)]
            rows += evaluate(condition.function, [entries, p], JetScalars(scalars))
        # A row that does not depend on the motion is a number, not a jet.
        zero = TimeJet(np.zeros((len(u), u.shape[2]), dtype=u.dtype))
        return np.stack([(zero + row).d[1:] for row in rows], axis=1)


@dataclass(frozen=True)
class _Condition:
    """The residual of a cut joint as a function of the poses of its bodies."""

    bodies: tuple[str, ...]
    columns: list[int]  # of their poses among those of all bodies
    function: ca.Function  # (poses (12, number of bodies), p) -> (rows,)
    gradient: ca.Function  # (the same) -> (rows, 6), as of `row_gradients`


def _displace(motion: Motion, point: ca.SX, twist: ca.SX) -> Motion:
    """Return a body after a small turn twist[:3] about a point, and a translation twist[3:]."""
    turn = ca.skew(twist[:3])
    r = motion.r + turn @ (motion.r - point) + twist[3:]
    return Motion(r, motion.A + turn @ motion.A, motion.v, motion.w)


def _restate(mechanism: Mechanism, values: Mapping[str, float]) -> Mechanism:
    """Return a mechanism with other values of its Parameters."""
    check_names("unknown parameter", values, parameters_in((mechanism,)))
    restated: Mechanism = substitute(mechanism, values) if values else mechanism
    return restated
