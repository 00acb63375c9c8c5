"""The state that elements see: motions of frames, values of stated numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from nsopt.algebra import rotation_matrix
from nsopt.mechanics.model.frame import STILL, Frame, Motion
from nsopt.parameter import Parameter, at_time


class State:
    """The state that an element sees: time, motion of frames, values of parameters.

    Parameters
    ----------
    t : SX scalar [s]
    motions : mapping of body name to Motion
        Of each body's centre of mass; the ground, None, is at rest if left out.
    symbols : mapping of parameter name to SX scalar
    between : callable, optional
        (a, b) -> the motion of frame b as seen from frame a, if there is a shorter way than by
        world axes (`Coordinates.between`).
    counted_angle : callable, optional
        (a, b) -> the angle of frame b about z of a by a coordinate, or None
        (`Coordinates.find_counted_angle`).

    Attributes
    ----------
    frozen_values : list of (SX symbols, SX)
        The symbols that `frozen` returned, and the values to put in their place.
    internal : mapping of element name to SX (nz,)
        Internal states of forces that have some.
    """

    def __init__(
        self,
        t: ca.SX,
        motions: Mapping[str | None, Motion],
        symbols: Mapping[str, ca.SX],
        between: Callable[[Frame, Frame], Motion] | None = None,
        counted_angle: Callable[[Frame, Frame], ca.SX | None] | None = None,
    ) -> None:
        self.t, self._between, self._counted_angle = t, between, counted_angle
        self._seen: dict[tuple[Frame, Frame], Motion] = {}
        self.frozen_values: list[tuple[ca.SX, ca.SX]] = []
        self.internal: dict[str, ca.SX] = {}
        self._motions = {None: STILL, **motions}
        self._symbols = symbols
        self._frames: dict[Frame, Motion] = {}

    def motion(self, frame: Frame) -> Motion:
        """Return position, axes and velocities of a frame in world axes."""
        if frame not in self._frames:
            self._frames[frame] = self._find_motion(frame)
        return self._frames[frame]

    def _find_motion(self, frame: Frame) -> Motion:
        origin, axes = self.value(frame.origin), ca.SX(ca.DM(frame.axes))
        body = self._motions[frame.body.name if frame.body else None]
        arm = body.A @ origin
        return Motion(body.r + arm, body.A @ axes, body.v + ca.cross(body.w, arm), body.w)

    def seen(self, a: Frame, b: Frame) -> Motion:
        """Return the motion of frame b as seen from frame a, all in the axes of a."""
        if (a, b) not in self._seen:
            self._seen[a, b] = self._between(a, b) if self._between else self._from_world(a, b)
        return self._seen[a, b]

    def angle(self, a: Frame, b: Frame) -> ca.SX:
        """Return the angle of x of frame b from x of frame a about z of a [rad].

        With its full turns where a joint of the tree of relative coordinates turns about that axis;
        in (-pi, pi] otherwise.
        """
        counted = self.counted_angle(a, b)
        if counted is not None:
            return counted
        R = self.seen(a, b).A
        return ca.atan2(R[1, 0], R[0, 0])

    def counted_angle(self, a: Frame, b: Frame) -> ca.SX | None:
        """Return the angle of `angle` with its full turns [rad], None where nothing counts them."""
        return self._counted_angle(a, b) if self._counted_angle else None

    def _from_world(self, a: Frame, b: Frame) -> Motion:
        a_now, b_now = self.motion(a), self.motion(b)
        apart = b_now.r - a_now.r
        speed = b_now.v - a_now.v - ca.cross(a_now.w, apart)
        return Motion(*(a_now.A.T @ x for x in (apart, b_now.A, speed, b_now.w - a_now.w)))

    def frozen(self, x: ca.SX) -> ca.SX:
        """Return symbols for a vector that counts as constant in the gradient of a potential.

        Such as the point where a potential is least or largest: there its derivative by that point
        is zero (envelope theorem), and need not be computed.
        """
        symbols = ca.SX.sym("frozen", x.numel())
        self.frozen_values.append((symbols, x))
        return symbols

    def value(self, x: Any) -> ca.SX:
        """Return a stated number, Parameter, or nested sequence of these, as an expression.

        A callable is a function of time ``x(t)``; inside it NumPy functions work on ``t``.
        """
        if callable(x):
            return self.value(at_time(x, self.t, self._find_symbol))
        if isinstance(x, Parameter):
            return self._find_symbol(x)
        if isinstance(x, np.ndarray) and x.ndim == 0:
            return self.value(x.item())
        if isinstance(x, Sequence | np.ndarray):
            parts = [self.value(part) for part in x]
            nested = any(isinstance(part, Sequence | np.ndarray) for part in x)
            return ca.vertcat(*(part.T if nested else part for part in parts))
        return ca.SX(x)

    def _find_symbol(self, parameter: Parameter) -> ca.SX:
        if parameter.name not in self._symbols:
            raise ValueError(
                f"the Parameter {parameter.name!r} is computed with where nothing may replace it: "
                "hand it to the element as one of its numbers"
            )
        return self._symbols[parameter.name]

    def stated(self, frames: Iterable[Frame]) -> State:
        """Return the state at t = 0 that the bodies of some frames state themselves."""
        value = State(ca.SX(0), {}, self._symbols).value
        motions: dict[str | None, Motion] = {}
        for body in {frame.body for frame in frames if frame.body is not None}:
            A = ca.SX.eye(3) if body.point_mass else rotation_matrix(value(body.orientation))
            velocity, spin = value(body.velocity), A @ value(body.angular_velocity)
            motions[body.name] = Motion(value(body.position), A, velocity, spin)
        return State(ca.SX(0), motions, self._symbols)
