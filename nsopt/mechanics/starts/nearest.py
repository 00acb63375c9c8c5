"""The closed posture nearest to a stated one, by the same measure in all coordinates."""

from __future__ import annotations

from dataclasses import fields, replace
from inspect import isfunction

import casadi as ca
import numpy as np

from nsopt.arrays import Array
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
from nsopt.mechanics.starts.closing import ALIGNED, CLOSED, Closing, Configurations, Search, flatten
from nsopt.parameter import exchange, number

State = tuple[Array, Array]

NEARLY = 1e-6
"""Residual [m, or 1] below which joints are closed in the coordinates at hand: over so short a way
the metric does not matter."""


def nearest_posture(d: Dynamics, t: float, start: State | None, p: Array) -> tuple[State, str]:
    """Return the nearest posture, q (nq,) and v (nv,), and in words what stays open, or nothing."""
    stated = d.restated(p)[0]
    q, v = start or _with_internal(d, stated.generalized_coordinates.start(refuse=False))
    q = flatten(d.renormalise(q))
    # Poses of bodies that open joints of the tree have no joint coordinates: q is only near them.
    given = None if start is None and not _has_coordinates(stated) else (q, v)
    opened = _measure_openings(d, stated, t, given, p)
    distance = flatten(d.distance(t, q, p))
    if not opened and not np.any(distance < 0):
        return (q, v), ""
    own = Configurations(*(getattr(d, x.name) for x in fields(Configurations)))
    stiffness = _find_stiffness(d, d.mechanism, (t, q, p))
    if max(opened.values(), default=0.0) < NEARLY and not np.any(distance < -NEARLY):
        return (Search(own, t, q, p, stiffness).close().q, v), ""
    # Joints that are closed become coordinates, so that they stay so, and only others are cut.
    tree = _make_tree_of_closed(d, [name for name, size in opened.items() if size >= NEARLY])
    if tree is None or _has_same_tree(tree, d.mechanism):
        found = Search(own, t, q, p, stiffness).nearest()
        return (found.q, v), _describe_opening(found, own.closure_names, opened)
    placed = stated
    if given is not None:
        placed = _place_bodies(stated, *(np.asarray(x) for x in d.poses(*given, p)))
    return _find_nearest_by_tree(d, tree, placed, (t, q, p), opened)


def _find_nearest_by_tree(
    d: Dynamics,
    tree: Mechanism,
    placed: Mechanism,
    at: tuple[float, Array, Array],
    opened: dict[str, float],
) -> tuple[State, str]:
    """Return the nearest posture, searched for in the coordinates of a tree, in those of d.

    ``placed`` has its bodies at the start, ``at`` is (t, q of d there, p).
    """
    t, near, p = at
    symbolic = SymbolicMechanism(tree, d.contacts, d.gravity, d.parameters)
    of_kinds = (constraint_functions, contact_functions, pose_functions)
    functions = {name: f for of_kind in of_kinds for name, f in of_kind(symbolic).items()}
    wanted = {x.name: functions[x.name] for x in fields(Configurations)}
    configurations = Configurations(
        **{name: f() if isfunction(f) else f for name, f in wanted.items()}
    )
    coordinates = replace(placed, coordinates=tree.coordinates).generalized_coordinates
    q, v = coordinates.start(refuse=False)
    found = Search(configurations, t, q, p, _find_stiffness(d, tree, (t, q, p))).nearest()
    r, quaternions, u, w = (np.asarray(x) for x in configurations.poses(found.q, v, p))
    end = _place_bodies(placed, r, quaternions, u, w).generalized_coordinates
    q, v = end.start(refuse=False)
    # Poses tell angles up to full turns: those are taken that are nearest to the start.
    angles = np.isin(d.q_names[: len(q)], list(_find_plain_turns(d)))
    turns = np.round((near[: len(q)] - q) / (2 * np.pi))
    q = np.where(angles, q + 2 * np.pi * turns, q)
    left_open = _describe_opening(found, configurations.closure_names, opened)
    return (np.concatenate([q, near[len(q) :]]), v), left_open


def _find_plain_turns(d: Dynamics) -> set[str]:
    """Return the names of angles after a full turn of which poses are the same: not of screws."""
    return {
        f"{(branch.joint or branch.body).name}.{step.name}"
        for branch in d.mechanism.tree.branches
        for step in branch.freedom
        if isinstance(step, Axis) and any(step.turn) and number(step.pitch) == 0
    }


def _has_coordinates(stated: Mechanism) -> bool:
    """Return whether what the bodies of a mechanism state is a point in its coordinates."""
    try:
        stated.generalized_coordinates.start()
    except ValueError:
        return False
    return True


def _with_internal(d: Dynamics, state: State) -> State:
    """Return a state of bodies with internal states of forces, which start at zero."""
    q, v = state
    return np.concatenate([q, np.zeros(len(d.internal_names))]), v


def _measure_openings(
    d: Dynamics, stated: Mechanism, t: float, given: State | None, p: Array
) -> dict[str, float]:
    """Return by how much each open joint is open [m, or 1] at a state, or as bodies state it."""
    if given is not None:
        values = [flatten(f(t, given[0], p)) for f in (d.closure, d.alignment)]
        names = d.closure_names, d.alignment_names
    else:
        free = SymbolicMechanism(
            Mechanism(stated.bodies, stated.joints, "absolute"), (), d.gravity, d.parameters
        )
        functions = constraint_functions(free)
        q = free.coordinates.start()[0]
        values = [flatten(functions[x](t, q, p)) for x in ("closure", "alignment")]
        names = functions["closure_names"], functions["alignment_names"]
    sizes = [np.abs(values[0]), 2.0 * (values[1] < ALIGNED)]  # 2: the most that a cosine is off
    opened: dict[str, float] = {}
    for labels, x in zip(names, sizes, strict=True):
        for name, size in zip(labels, x, strict=True):
            if size > 1e-3 * CLOSED:
                opened[name] = max(float(size), opened.get(name, 0.0))
    return opened


def _make_tree_of_closed(d: Dynamics, opened: list[str]) -> Mechanism | None:
    """Return the mechanism in the coordinates of joints that are closed; None if it has none."""
    try:
        tree = replace(d.mechanism, coordinates=Relative(cut=opened))
        _ = tree.tree  # which raises
    except ValueError:  # a follower or a rotor needs an open joint in the tree
        return None
    return tree


def _has_same_tree(a: Mechanism, b: Mechanism) -> bool:
    return b.is_relative and {x.name for x in a.cut} == {x.name for x in b.cut}


def _find_stiffness(d: Dynamics, mechanism: Mechanism, at: tuple[float, Array, Array]) -> Array:
    """Return the second derivatives of the potential of springs, (nv, nv) [N m, or N/m]."""
    forces = tuple(e for e in d.elements if isinstance(e, Force) and not e.states)
    s = SymbolicMechanism(mechanism, forces, d.gravity, d.parameters)
    energy = sum((e.energy(s.state) for e in forces), ca.SX(0))
    slope = s.gradient(energy).T
    hessian = ca.jacobian(slope, s.q) @ s.N
    stiffness = ca.Function("stiffness", [s.t, s.q, s.p], [ca.densify(hessian)])
    t, q, p = at
    return np.asarray(stiffness(t, q[: s.q.numel()], p), dtype=float)


def _place_bodies(
    mechanism: Mechanism, r: Array, quaternions: Array, u: Array, w: Array
) -> Mechanism:
    """Return the mechanism with its bodies at poses and with velocities, as of `Dynamics.poses`."""
    moved = []
    for k, body in enumerate(mechanism.bodies):
        new = replace(body, position=tuple(r[:, k]), velocity=tuple(u[:, k]))
        if not body.point_mass:
            new = replace(new, orientation=tuple(quaternions[:, k]))
            new = replace(new, angular_velocity=tuple(new.rotation.T @ w[:, k]))
        moved.append((body, new))
    result: Mechanism = exchange(mechanism, moved)
    return result


def _describe_opening(found: Closing, names: tuple[str, ...], opened: dict[str, float]) -> str:
    """Return in words which joint stays open most, by how much, and by how much it was stated."""
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
