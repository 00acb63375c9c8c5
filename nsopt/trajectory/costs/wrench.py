"""Potential energy and wrench of a force element in a `NodeSample`."""

from __future__ import annotations

import casadi as ca
import numpy as np

from nsopt.mechanics import STILL, Force, Frame, Motion, State
from nsopt.trajectory.node_sample import NodeSample


def energy_of(force: Force, m: NodeSample) -> ca.SX:
    """Return the potential energy of a force element [J]."""
    s = State(m.t, _motions(force, m), _parameter_values(m))
    return _release(s, force.energy(s))


def wrench_of(force: Force, m: NodeSample) -> ca.SX:
    """Return force [N] and torque [N m] on the body of its last frame, about its origin, (6,).

    World axes. By virtual work: the derivative of its potential when that body alone is displaced
    and rotated, and the power of its loads by that body's velocities.
    """
    frame = force.frames[-1]
    owner = frame.body.name if frame.body else None
    motions = _motions(force, m)
    here = motions[owner]
    move, twist = ca.SX.sym("move", 6), ca.SX.sym("twist", 6)
    turn = ca.SX.eye(3) + ca.skew(move[3:])
    moved = Motion(here.r + move[:3], turn @ here.A, twist[:3], twist[3:])
    s = State(m.t, {**motions, owner: moved}, _parameter_values(m))
    wrench = -ca.gradient(force.energy(s), move)
    for load in force.loads(s):
        wrench += ca.jtimes(load.velocity, twist, load.force, True)
    wrench = _release(s, wrench)
    as_it_moves = ca.vertcat(ca.SX.zeros(6), here.v, here.w)
    wrench = ca.substitute(wrench, ca.vertcat(move, twist), as_it_moves)
    arm = here.A @ m.state.value(frame.origin)  # from the centre of mass to the frame
    return ca.vertcat(wrench[:3], wrench[3:] - ca.cross(arm, wrench[:3]))


def _motions(force: Force, m: NodeSample) -> dict[str | None, Motion]:
    """Return the motions of the centres of mass of its bodies, by name; None for the ground."""
    bodies = {frame.body.name: frame.body for frame in force.frames if frame.body}
    return {
        None: STILL,
        **{name: m.motion(Frame(body, axes=np.eye(3))) for name, body in bodies.items()},
    }


def _parameter_values(m: NodeSample) -> dict[str, ca.SX]:
    return {x.name: m.p[i] for i, x in enumerate(m.dynamics.parameters)}


def _release(s: State, x: ca.SX) -> ca.SX:
    """Return an expression with the symbols of `State.frozen` replaced by their values."""
    for symbols, value in reversed(s.frozen_values):
        x = ca.substitute(x, symbols, value)
    return x
