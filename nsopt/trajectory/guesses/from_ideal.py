"""Guesses for mechanisms with play, from motions of the same mechanism with ideal joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import casadi as ca
import numpy as np

from nsopt.algebra import from_rotation
from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Mechanism, State, assemble
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.guesses.base import Bounds, Guess, Trajectory, Values

Q = ("x", "y", "z", "e0", "e1", "e2", "e3")
"""Names of the coordinates of a free body: place, Euler parameters."""

V = ("vx", "vy", "vz", "wx", "wy", "wz")
"""Names of its velocities: linear in world axes, angular in body axes."""


@dataclass(frozen=True, eq=False)
class FromIdeal(Guess):
    """The motion of a mechanism with ideal joints, as that of one with play in some of them.

    Coordinates of the same name move alike. A joint that play gives more freedoms keeps its name;
    its other coordinates are zero: pins are in the middle of their bores. Bodies that are free for
    play move as in the ideal mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        With ideal joints.
    guess : Guess
        A motion of it.
    dynamics, parameters : optional
        The mechanism with play and values of its parameters, set by `placed`.

    Raises
    ------
    TypeError
        If ``mechanism`` or ``guess`` is of another type.
    """

    mechanism: Mechanism
    guess: Guess
    dynamics: Dynamics | None = field(default=None, repr=False, kw_only=True)
    parameters: Mapping[str, float] | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise TypeError(f"FromIdeal takes a Mechanism first, got {self.mechanism!r}")
        if not isinstance(self.guess, Guess):
            raise TypeError(f"FromIdeal takes a Guess second, got {self.guess!r}")

    def placed(
        self, dynamics: Dynamics, conditions: Sequence[Condition], parameters: Values
    ) -> Self:
        del conditions  # they are of the mechanism with play
        bodies = {x.name for x in self.mechanism.bodies}
        known = bodies | {x.name for x in self.mechanism.joints}
        for name in dynamics.q_names[: dynamics.nq - len(dynamics.internal_names)]:
            owner = name.rsplit(".", 1)[0]
            if owner not in known:
                raise ValueError(
                    f"FromIdeal knows no motion of {name!r}: the ideal mechanism has no joint or "
                    f"body {owner!r}; let what replaces a joint keep its name"
                )
        ideal = assemble(self.mechanism)
        guess = self.guess.placed(ideal, [], parameters)
        return replace(self, guess=guess, dynamics=dynamics, parameters=parameters)

    def trajectory(self, share: Array, bounds: Bounds, inputs: Sequence[str]) -> Trajectory:
        if self.dynamics is None:
            raise ValueError(
                "FromIdeal is not yet a motion: placed(dynamics, conditions, None) tells it the "
                "mechanism with play"
            )
        ideal = assemble(self.mechanism)
        known = self.guess.trajectory(share, bounds, ())
        known.check("FromIdeal", ideal, ())
        q, v = self._name_numbers(ideal, known)
        # Of the mechanism with play; what the ideal one does not have is zero.
        n = self.dynamics.nq - len(self.dynamics.internal_names)
        rates = np.column_stack([v.get(x, 0 * share) for x in self.dynamics.v_names])
        return Trajectory(
            np.column_stack([q.get(x, 0 * share) for x in self.dynamics.q_names[:n]]),
            rates,
            np.gradient(rates, share * known.duration, axis=0),
            np.zeros((len(share), len(inputs))),
            known.duration,
        )

    def _name_numbers(
        self, ideal: Dynamics, known: Trajectory
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return coordinates and velocities (n,) by name: of joints, and of all bodies as free."""
        q, v = ca.SX.sym("q", ideal.nq), ca.SX.sym("v", ideal.nv)
        coordinates = self.mechanism.generalized_coordinates
        by_q_name: dict[str, Array] = {}
        by_v_name: dict[str, Array] = {}
        stated = {x.name: x.value for x in ideal.parameters} | dict(self.parameters or {})
        state = State(ca.SX(0), {}, {name: ca.SX(x) for name, x in stated.items()})
        for name, x in coordinates.motions(q, v, state.value).items():
            motion = ca.Function("motion", [q, v], [x.r, ca.vec(x.A), x.v, x.A.T @ x.w])
            columns = motion.map(len(known.q))(known.q.T, known.v.T)
            r, A, velocity, spin = (np.asarray(y).T for y in columns)
            # CasADi stacks columns of a matrix, NumPy rows.
            e = np.array([from_rotation(y.reshape(3, 3).T) for y in A])
            # Of e and -e, the same rotation, the one nearer to the one before.
            e[1:] *= np.cumprod(np.where(np.sum(e[1:] * e[:-1], axis=1) < 0, -1, 1))[:, None]
            by_q_name |= _name_columns((f"{name}.{y}" for y in Q), np.hstack([r, e]))
            by_v_name |= _name_columns((f"{name}.{y}" for y in V), np.hstack([velocity, spin]))
        by_q_name |= _name_columns(ideal.q_names, known.q)
        by_v_name |= _name_columns(ideal.v_names, known.v)
        return by_q_name, by_v_name


def _name_columns(names: Iterable[str], columns: Array) -> dict[str, Array]:
    return dict(zip(names, columns.T, strict=True))
