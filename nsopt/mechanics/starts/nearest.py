"""The closed posture nearest to a stated one, counted alike in all coordinates."""

from __future__ import annotations

from dataclasses import fields, replace

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics.coordinates.spanning_tree import Relative
from nsopt.mechanics.equations.constraints import (
    constraint_functions,
    contact_functions,
    pose_functions,
)
from nsopt.mechanics.equations.dynamics import Dynamics
from nsopt.mechanics.equations.symbolic import SymbolicMechanism
from nsopt.mechanics.model.element import Force
from nsopt.mechanics.model.freedom import Axis
from nsopt.mechanics.model.mechanism import Mechanism
from nsopt.mechanics.starts.closing import ALIGNED, CLOSED, Closing, Configurations, Search, column
from nsopt.parameter import exchange, number

Array = NDArray[np.float64]
State = tuple[Array, Array]

NEARLY = 1e-6
"""Residual [m, or 1] below which joints are closed at once: all metrics agree."""


def nearest_posture(d: Dynamics, t: float, start: State | None, p: Array) -> tuple[State, str]:
    """Return q (nq,) and v (nv,) of the nearest posture, and in words what stays open, or nothing.

    Parameters
    ----------
    d : Dynamics
    t : float [s]
    start : (q, v), optional
        By default what the bodies state.
    p : (np,)
        Parameters.
    """
    stated = d.restated(p)[0]
    q, v = start or _with_internal(d, stated.generalized_coordinates.start(refuse=False))
    q = column(d.renormalise(q))
    given = None if start is None and not _in_coordinates(stated) else (q, v)
    opened = _open_joints(d, stated, t, given, p)
    distance = column(d.distance(t, q, p))
    if not opened and not np.any(distance < 0):
        return (q, v), ""
    own = Configurations(*(getattr(d, x.name) for x in fields(Configurations)))
    stiffness = _stiffness(d, d.mechanism, (t, q, p))
    if max(opened.values(), default=0.0) < NEARLY and not np.any(distance < -NEARLY):
        return (Search(own, t, q, p, stiffness).close().q, v), ""
    tree = _tree_of_closed(d, [name for name, size in opened.items() if size >= NEARLY])
    if tree is None or _same_tree(tree, d.mechanism):
        found = Search(own, t, q, p, stiffness).nearest()
        return (found.q, v), _describe_opening(found, own.closure_names, opened)
    placed = stated if given is None else _place(d, stated, given, p)
    return _by_tree(d, tree, placed, (t, q, p), opened)


def _by_tree(
    d: Dynamics,
    tree: Mechanism,
    placed: Mechanism,
    at: tuple[float, Array, Array],
    opened: dict[str, float],
) -> tuple[State, str]:
    """Return the nearest posture in the coordinates of a tree, in those of the dynamics."""
    t, near, p = at
    symbolic = SymbolicMechanism(tree, d.contacts, d.gravity, d.parameters)
    on = _configurations(symbolic)
    coordinates = replace(placed, coordinates=tree.coordinates).generalized_coordinates
    q, v = coordinates.start(refuse=False)
    found = Search(on, t, q, p, _stiffness(d, tree, (t, q, p))).nearest()
    r, turned, u, w = (np.asarray(x) for x in on.poses(found.q, v, p))
    end = _move(placed, r, turned, u, w).generalized_coordinates
    q, v = end.start(refuse=False)
    turning = _turning(d)
    angles = [name in turning for name in d.q_names[: len(q)]]
    turns = np.round((near[: len(q)] - q) / (2 * np.pi))
    q = np.where(angles, q + 2 * np.pi * turns, q)
    return (np.concatenate([q, near[len(q) :]]), v), _describe_opening(
        found, on.closure_names, opened
    )


def _turning(d: Dynamics) -> set[str]:
    """Return the names of coordinates that full turns do not change: screws advance by theirs."""
    return {
        f"{(branch.joint or branch.body).name}.{step.name}"
        for branch in d.mechanism.tree.branches
        for step in branch.freedom
        if isinstance(step, Axis) and any(step.turn) and number(step.pitch) == 0
    }


def _in_coordinates(stated: Mechanism) -> bool:
    """Return whether the coordinates of a mechanism can hold what its bodies state."""
    try:
        stated.generalized_coordinates.start()
    except ValueError:
        return False
    return True


def _with_internal(d: Dynamics, state: State) -> State:
    q, v = state
    return np.concatenate([q, np.zeros(len(d.internal_names))]), v


def _open_joints(
    d: Dynamics, stated: Mechanism, t: float, given: State | None, p: Array
) -> dict[str, float]:
    """Return by how much each open joint is open [m, or 1] at a state, or as bodies state it."""
    if given is not None:
        values = [column(f(t, given[0], p)) for f in (d.closure, d.alignment)]
        names = d.closure_names, d.alignment_names
    else:
        free = SymbolicMechanism(
            Mechanism(stated.bodies, stated.joints, "absolute"), (), d.gravity, d.parameters
        )
        functions = constraint_functions(free)
        q = free.coordinates.start()[0]
        values = [column(functions[x](t, q, p)) for x in ("closure", "alignment")]
        names = functions["closure_names"], functions["alignment_names"]
    sizes = [np.abs(values[0]), 2.0 * (values[1] < ALIGNED)]
    opened: dict[str, float] = {}
    for labels, x in zip(names, sizes, strict=True):
        for name, size in zip(labels, x, strict=True):
            if size > 1e-3 * CLOSED:
                opened[name] = max(float(size), opened.get(name, 0.0))
    return opened


def _tree_of_closed(d: Dynamics, opened: list[str]) -> Mechanism | None:
    """Return the mechanism in the coordinates of joints that are closed; None if it has none."""
    try:
        tree = replace(d.mechanism, coordinates=Relative(cut=opened))
        _ = tree.tree
    except ValueError:  # a follower or a rotor needs an open joint in the tree
        return None
    return tree


def _same_tree(a: Mechanism, b: Mechanism) -> bool:
    return b.is_relative and {x.name for x in a.cut} == {x.name for x in b.cut}


def _stiffness(d: Dynamics, mechanism: Mechanism, at: tuple[float, Array, Array]) -> Array:
    """Return the second derivatives of the potential of springs, (nv, nv) [N m, or N/m]."""
    forces = tuple(e for e in d.elements if isinstance(e, Force) and not e.states)
    s = SymbolicMechanism(mechanism, forces, d.gravity, d.parameters)
    energy = sum((e.energy(s.state) for e in forces), ca.SX(0))
    slope = s.gradient(energy).T
    bent = ca.jacobian(slope, s.q) @ s.N
    stiffness = ca.Function("stiffness", [s.t, s.q, s.p], [ca.densify(bent)])
    t, q, p = at
    return np.asarray(stiffness(t, q[: s.q.numel()], p), dtype=float)


def _configurations(s: SymbolicMechanism) -> Configurations:
    functions = constraint_functions(s) | contact_functions(s) | pose_functions(s)
    return Configurations(**{x.name: functions[x.name] for x in fields(Configurations)})


def _place(d: Dynamics, stated: Mechanism, state: State, p: Array) -> Mechanism:
    """Return the mechanism as if its bodies stated a state."""
    return _move(stated, *(np.asarray(x) for x in d.poses(*state, p)))


def _move(mechanism: Mechanism, r: Array, turned: Array, u: Array, w: Array) -> Mechanism:
    """Return the mechanism with its bodies at poses (3, nb), (4, nb), and with their velocities."""
    moved = []
    for k, body in enumerate(mechanism.bodies):
        new = replace(body, position=tuple(r[:, k]), velocity=tuple(u[:, k]))
        if not body.point_mass:
            new = replace(new, orientation=tuple(turned[:, k]))
            new = replace(new, angular_velocity=tuple(new.rotation.T @ w[:, k]))
        moved.append((body, new))
    result: Mechanism = exchange(mechanism, moved)
    return result


def _describe_opening(found: Closing, names: tuple[str, ...], opened: dict[str, float]) -> str:
    if found.closed:
        return ""
    k = int(np.argmax(np.abs(found.residual)))
    left = abs(found.residual[k])
    if left < CLOSED:
        return ""
    return (
        f"joint {names[k]!r} stays open by {left:.3g} (m, or rad) where joints are least open, as "
        f"stated by {opened.get(names[k], 0.0):.3g}"
    )
