"""Guesses for mechanisms with clearance, from motions of the same mechanism with ideal joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import casadi as ca
import numpy as np

from nsopt.algebra import from_rotation
from nsopt.mechanics import Dynamics, Mechanism, State, assemble
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.guesses.base import Array, Guess, Trajectory

Q = ("x", "y", "z", "e0", "e1", "e2", "e3")
V = ("vx", "vy", "vz", "wx", "wy", "wz")
"""Coordinates and velocities of a free body."""


@dataclass(frozen=True, eq=False)
class FromIdeal(Guess):
    """The motion of a mechanism with ideal joints, as that of one with play in some of them.

    Joints that both have move alike; a joint that play gives more freedoms keeps its name, and its
    other coordinates are zero: pins are in the middle of their bores. Bodies that are free move as
    in the ideal mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        With ideal joints.
    guess : Guess
        A motion of it.
    loose, parameters : optional
        Set by `placed`.

    Raises
    ------
    TypeError
        If ``mechanism`` or ``guess`` is none.
    """

    mechanism: Mechanism
    guess: Guess
    loose: Dynamics | None = field(default=None, repr=False, kw_only=True)
    parameters: Mapping[str, float] | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise TypeError(f"FromIdeal takes a Mechanism first, got {self.mechanism!r}")
        if not isinstance(self.guess, Guess):
            raise TypeError(f"FromIdeal takes a Guess second, got {self.guess!r}")

    def placed(
        self,
        dynamics: Dynamics,
        conditions: Sequence[Condition],
        parameters: Mapping[str, float] | None,
    ) -> Self:
        del conditions  # they are of the other mechanism
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
        return replace(self, guess=guess, loose=dynamics, parameters=parameters)

    def trajectory(
        self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        if self.loose is None:
            raise ValueError(
                "FromIdeal is not yet a motion: placed(dynamics, conditions, None) tells it the "
                "mechanism with play"
            )
        ideal = assemble(self.mechanism)
        known = self.guess.trajectory(share, bounds, ())
        known.check("FromIdeal", ideal, ())
        q, v = self._columns(ideal, known)
        n = self.loose.nq - len(self.loose.internal_names)
        rates = np.column_stack([v.get(x, 0 * share) for x in self.loose.v_names])
        return Trajectory(
            np.column_stack([q.get(x, 0 * share) for x in self.loose.q_names[:n]]),
            rates,
            np.gradient(rates, share * known.duration, axis=0),
            np.zeros((len(share), len(inputs))),
            known.duration,
        )

    def _columns(
        self, ideal: Dynamics, known: Trajectory
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return coordinates and velocities by name: of joints, and of all bodies."""
        q, v = ca.SX.sym("q", ideal.nq), ca.SX.sym("v", ideal.nv)
        coordinates = self.mechanism.generalized_coordinates
        values: tuple[dict[str, Array], dict[str, Array]] = {}, {}
        stated = {x.name: x.value for x in ideal.parameters} | dict(self.parameters or {})
        numbers = State(ca.SX(0), {}, {name: ca.SX(x) for name, x in stated.items()})
        for name, x in coordinates.motions(q, v, numbers.value).items():
            moved = ca.Function("moved", [q, v], [x.r, ca.vec(x.A), x.v, x.A.T @ x.w])
            columns = moved.map(len(known.q))(known.q.T, known.v.T)
            r, A, rate, turning = (np.asarray(y).T for y in columns)
            # Columns of casadi are stacked, rows of NumPy.
            e = np.array([from_rotation(y.reshape(3, 3).T) for y in A])
            e[1:] *= np.cumprod(np.where(np.sum(e[1:] * e[:-1], axis=1) < 0, -1, 1))[:, None]
            values[0].update(_name_columns((f"{name}.{y}" for y in Q), np.hstack([r, e])))
            values[1].update(_name_columns((f"{name}.{y}" for y in V), np.hstack([rate, turning])))
        values[0].update(_name_columns(ideal.q_names, known.q))
        values[1].update(_name_columns(ideal.v_names, known.v))
        return values


def _name_columns(names: Iterable[str], columns: Array) -> dict[str, Array]:
    return dict(zip(names, columns.T, strict=True))
