"""Closed and over-constrained loops: motions and loads from the coordinates that are driven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nsopt.algebra import null_space, rank, rotation_matrix
from nsopt.arrays import Array
from nsopt.checks import NOT_IN_MECHANISM, check_names, finite
from nsopt.mechanics import INSTANT, Dynamics
from nsopt.robots.sharing import SharingRule, lexicographic_least_squares

CLOSED = 1e-12
"""Residual of loops [m, or 1] that counts as closed; round-off of some metres is a tenth of it."""

SINGULAR = 1e-9  # singular values below this part of the largest count as zero

MOVES, SHORTEST = 50, 1e-6
"""Moves of Gauss-Newton at most, each of which squares what is left open from nearby, and the least
part of one: where even that does not open loops less, they cannot be closed."""

FRICTION_ITERATIONS = 50
"""Fixed-point iterations within which friction and the reactions it depends on must agree."""

NONE = np.zeros(0)
"""Impulses of contacts, and internal states, of which there are none."""


class JointMotion(NamedTuple):
    """The motion of all joints of the tree, in the order of `Dynamics.q_names` and ``v_names``."""

    q: Array  # (nq,) coordinates
    v: Array  # (nv,) velocities
    a: Array  # (nv,) accelerations
    t: float = 0.0  # [s]


class Loads(NamedTuple):
    """The loads of a motion: on driven joints, on cut joints, reactions.

    Attributes
    ----------
    tau : (n,) [N m or N]
        Of the driven joints, in their order.
    mu : (nc,)
        Multipliers of the rows of cut joints, `Dynamics.closure_names`.
    reactions : (6, nj)
        Force [N] and torque [N m] about the origin of frame b of each joint, in the order of
        `Dynamics.joint_names`, on the body of its frame b, world axes; the driving force left out.
    """

    tau: Array
    mu: Array
    reactions: Array


@dataclass(frozen=True, eq=False)
class ClosedLoops:
    """A mechanism in relative coordinates whose loops are driven by some of its joints.

    A linear actuator is two bodies on a prismatic joint that is driven: its length is the input,
    the joint that it moves follows [CHARMIE 2023, eqs. 5-14].

    Parameters
    ----------
    dynamics : Dynamics
        Of a mechanism in relative coordinates, from `assemble`; without contacts.
    driven : sequence of str
        Joints of one freedom, of the tree; as many as there are degrees of freedom.

    Raises
    ------
    ValueError
        If a joint has no coordinate of its own, or the number of joints is not that of the degrees
        of freedom.
    """

    dynamics: Dynamics
    driven: Sequence[str]

    def __post_init__(self) -> None:
        d = self.dynamics
        if not isinstance(d, Dynamics):
            raise TypeError(f"ClosedLoops takes a Dynamics, got {type(d).__name__}: assemble() it")
        if not d.mechanism.is_relative:
            raise ValueError(
                "ClosedLoops takes joint coordinates: state the mechanism with "
                'coordinates="relative"'
            )
        if d.internal_names:
            raise ValueError(
                f"friction with internal states, such as {d.internal_names[0]!r}, has no value at "
                "one moment: use another law, or simulate"
            )
        object.__setattr__(self, "driven", tuple(self.driven))
        if d.contact_names:
            raise ValueError(f"contact {d.contact_names[0]!r} drives no loop: leave contacts out")
        for name in self.driven:
            if d.v_owners.count(name) != 1:
                raise ValueError(
                    f"joint {name!r} cannot be driven: it has not one coordinate of its own, it "
                    "is cut, mimics another or has more freedoms; coordinates are those of "
                    f"{', '.join(dict.fromkeys(d.v_owners))}"
                )
        free = d.nv - rank(self._find_closure_matrix(self.stated[0], 0.0))
        if free != len(self.driven):
            raise ValueError(
                f"the mechanism has {free} degrees of freedom at its start, but "
                f"{len(self.driven)} joints are driven: state as many"
            )

    @cached_property
    def stated(self) -> tuple[Array, Array]:
        """The start (q, v) as stated by the bodies."""
        return self.dynamics.stated_start()

    @cached_property
    def _p(self) -> Array:
        return self.dynamics.values()

    @cached_property
    def _entries(self) -> tuple[list[int], list[int], list[int]]:
        """The indices in v and in q of the driven joints, and in v of those that follow."""
        d = self.dynamics
        in_v = [d.v_owners.index(name) for name in self.driven]
        in_q = [d.q_owners.index(name) for name in self.driven]
        return in_v, in_q, [k for k in range(d.nv) if k not in in_v]

    def _find_closure_matrix(self, q: Array, t: float) -> Array:
        return np.asarray(self.dynamics.closure_matrix(t, q, self._p))

    def motion(
        self,
        values: ArrayLike,
        rates: ArrayLike,
        changes: ArrayLike,
        near: Array | None = None,
        t: float = 0.0,
    ) -> JointMotion:
        """Return the motion of all joints from that of the driven ones.

        Parameters
        ----------
        values, rates, changes : (n,)
            Coordinates of the driven joints and their first and second derivatives.
        near : (nq,), optional
            From where loops are closed; by default the start. Loops close in several ways: this
            says which.
        t : float [s]
            For joints and loads that are functions of time.

        Raises
        ------
        ValueError
            If loops cannot be closed, or the driven joints do not determine the others there.
        """
        d, (in_v, _, follow) = self.dynamics, self._entries
        q = self.positions(values, self.stated[0] if near is None else near, t)
        C = self._find_closure_matrix(q, t)
        loose = null_space(C[:, follow])  # by which a following joint could move alone
        if loose.shape[1]:
            name = d.v_names[follow[int(np.argmax(np.abs(loose[:, 0])))]]
            raise ValueError(
                f"the driven joints do not determine {name!r} here: the position is singular, or "
                "other joints must be driven"
            )
        v, a = np.zeros(d.nv), np.zeros(d.nv)
        v[in_v] = self._check_values("rates", rates)
        a[in_v] = self._check_values("changes", changes)
        drift = _flatten(d.closure_drift(t, q, self._p))
        v[follow] = _solve_least_norm(C[:, follow], -drift - C @ v)
        bias = _flatten(d.closure_bias(t, q, v, self._p))
        a[follow] = _solve_least_norm(C[:, follow], -bias - C @ a)
        return JointMotion(q, v, a, t)

    def positions(self, values: ArrayLike, near: Array, t: float = 0.0) -> Array:
        """Return q (nq,) with closed loops, by Gauss-Newton from ``near``; errors as `motion`."""
        d, (_, in_q, follow) = self.dynamics, self._entries
        q = np.array(near, dtype=float)
        q[in_q] = self._check_values("values", values)
        residual = _flatten(d.closure(t, q, self._p))
        for _ in range(MOVES):
            if np.max(np.abs(residual), initial=0.0) < CLOSED:
                return q
            move = np.zeros(d.nv)
            move[follow] = _solve_least_norm(self._find_closure_matrix(q, t)[:, follow], -residual)
            q, residual, size = self._shorten_move(q, move, residual, t)
            if size == 0:
                break
        k = int(np.argmax(np.abs(residual)))
        raise ValueError(
            f"the loops cannot be closed: joint {d.closure_names[k]!r} stays open by "
            f"{abs(residual[k]):.3g} (m, or rad) with the driven joints there; go in smaller "
            "steps, each near the last, or drive within reach"
        )

    def _shorten_move(
        self, q: Array, move: Array, residual: Array, t: float
    ) -> tuple[Array, Array, float]:
        """Return q, residual and size of the largest part of a move that closes loops, or zero."""
        d, size = self.dynamics, 1.0
        while size > SHORTEST:
            moved = _flatten(d.retract(q, size * move))
            opening = _flatten(d.closure(t, moved, self._p))
            if np.linalg.norm(opening) < np.linalg.norm(residual):
                return moved, opening, size
            size /= 2
        return q, residual, 0.0

    def loads(self, motion: JointMotion, rules: Sequence[SharingRule] = ()) -> Loads:
        """Return the driving forces of a motion, multipliers and joint reactions.

        Parameters
        ----------
        motion : JointMotion
        rules : sequence of SharingRule
            The first ones go first. Where they leave something open, mu has least norm.

        Raises
        ------
        ValueError
            If a rule names a joint that is not there or not on its body, or friction under the
            reactions of joints does not converge.
        """
        d = self.dynamics
        q, v, a, t = motion
        needed = np.asarray(d.mass(q, self._p)) @ a + _flatten(d.bias(q, v, self._p))
        needed -= _flatten(d.applied(t, q, v, self._p))
        loads = self._balance(motion, needed, rules)
        for _ in range(FRICTION_ITERATIONS if d.friction_joints else 0):
            before, friction_joints = loads, loads.reactions[:, list(d.friction_joints)]
            friction = _flatten(d.joint_friction(t, q, v, self._p, INSTANT, NONE, friction_joints))
            loads = self._balance(motion, needed - friction, rules)
            size = np.max(np.abs(loads.reactions))
            if np.max(np.abs(loads.reactions - before.reactions)) <= CLOSED * max(size, 1.0):
                return loads
        if d.friction_joints:
            raise ValueError(
                "friction under the reactions of joints does not converge: the loops jam, or lower "
                "the coefficients of friction"
            )
        return loads

    def _balance(self, motion: JointMotion, needed: Array, rules: Sequence[SharingRule]) -> Loads:
        """Return the loads whose generalized force is ``needed``."""
        in_v, C = self._entries[0], self._find_closure_matrix(motion.q, motion.t)
        select = np.eye(self.dynamics.nv)[:, in_v]
        unknowns = _solve_least_norm(np.hstack([select, C.T]), needed)
        tau, mu = unknowns[: len(in_v)], unknowns[len(in_v) :]
        if C.shape[0]:
            levels = self._state_levels(motion, rules)
            mu = lexicographic_least_squares(levels, mu, null_space(C.T))
        return Loads(tau, mu, self._find_reactions(motion, mu))

    def _find_reactions(self, motion: JointMotion, mu: Array) -> Array:
        q, v, a, t = motion
        return np.asarray(self.dynamics.reactions(t, q, v, self._p, 1, a, mu, NONE, NONE))

    @cached_property
    def _transmission(self) -> ca.Function:
        """(arguments of `Dynamics.reactions`) -> their derivative by mu, (6 nj, nc)."""
        d = self.dynamics
        symbols = [ca.SX.sym("x", *d.reactions.size_in(i)) for i in range(d.reactions.n_in())]
        mu = symbols[d.reactions.name_in().index("mu")]
        J = ca.jacobian(ca.vec(d.reactions(*symbols)), mu)
        return ca.Function("transmission", symbols, [ca.densify(J)])

    def _state_levels(
        self, motion: JointMotion, rules: Sequence[SharingRule]
    ) -> list[tuple[Array, Array]]:
        """Return R, r0 of `lexicographic_least_squares` for mu: weighted loads in body axes."""
        d = self.dynamics
        mu = np.zeros(len(d.closure_names))
        q, v, a, t = motion
        J = np.asarray(self._transmission(t, q, v, self._p, 1, a, mu, NONE, NONE))
        r0 = self._find_reactions(motion, mu).ravel(order="F")
        names = [body.name for body in d.mechanism.bodies]
        quaternions = d.poses(q, v, self._p)[1]
        levels = []
        for rule in rules:
            k = names.index(rule.body.name)
            A = np.asarray(ca.evalf(rotation_matrix(ca.SX(quaternions[:, k]))))
            to_body = rule.weights[:, None] * np.kron(np.eye(2), A.T)
            for level in rule.levels():
                parts = [self._find_sign(rule, name) * to_body for name in level]
                rows = [6 * d.joint_names.index(name) for name in level]
                R = np.vstack([x @ J[i : i + 6] for x, i in zip(parts, rows, strict=True)])
                r = np.concatenate([x @ r0[i : i + 6] for x, i in zip(parts, rows, strict=True)])
                levels.append((R, r))
        return levels

    def _find_sign(self, rule: SharingRule, name: str) -> float:
        """Return 1 where the wrench of a joint is on the body of the rule, -1 on the other one."""
        joints = {joint.name: joint for joint in self.dynamics.mechanism.joints}
        check_names(f"{type(rule).__name__} names the joint", [name], joints, NOT_IN_MECHANISM)
        a, b = joints[name].frames
        if rule.body not in (a.body, b.body):
            raise ValueError(
                f"{type(rule).__name__} shares a load on body {rule.body.name!r}, but joint "
                f"{name!r} is not on it"
            )
        return 1.0 if b.body is rule.body else -1.0

    def _check_values(self, what: str, values: ArrayLike) -> Array:
        return finite(what, values, (len(self.driven),))


def _flatten(x: ca.DM) -> Array:
    return np.asarray(x, dtype=float).ravel()


def _solve_least_norm(A: Array, b: Array) -> Array:
    """Return the least-squares solution of least norm; rows may imply each other."""
    return np.asarray(np.linalg.lstsq(A, b, rcond=SINGULAR)[0], dtype=float)
