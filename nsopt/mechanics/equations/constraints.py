"""Functions of the ideal joints, of their angles and lengths, and of the contacts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from nsopt.mechanics.equations.symbolic import SymbolicMechanism
from nsopt.mechanics.model.element import Constraint, Element
from nsopt.mechanics.model.frame import Frame
from nsopt.mechanics.model.freedom import Axis, X, Y, Z
from nsopt.mechanics.model.gap import Bore, Drag, Gap

LAW = ("restitution", "friction", "viscous", "tangential_restitution", "stiffness")
"""The fields of `ContactLaw` that are functions of a `Dynamics`."""


def constraint_functions(s: SymbolicMechanism) -> dict[str, Any]:
    """Return the functions of a `Dynamics` that concern ideal joints, by name."""
    residuals, cut = s.residuals, s.mechanism.cut
    alignments = [joint.alignment(s.state) for joint in cut]
    closure = ca.vertcat(ca.SX(0, 1), *residuals)
    C = s.gradient(closure)
    rate = C @ s.v + s.evaluate(ca.jacobian(closure, s.t))[0]
    return {
        "closure": s.function("closure", "t q p", closure),
        "closure_names": _name_owners(cut, [r.numel() for r in residuals]),
        "closure_matrix": s.function("closure_matrix", "t q p", C),
        "closure_drift": s.function("closure_drift", "t q p", ca.jacobian(closure, s.t)),
        "closure_bias": lambda: s.function("closure_bias", "t q v p", s.rate(rate)),
        "alignment": _make_column(s, "alignment", alignments),
        "alignment_names": _name_owners(cut, [a.numel() for a in alignments]),
    }


def pose_functions(s: SymbolicMechanism) -> dict[str, Any]:
    """Return the functions of a `Dynamics` that concern poses and their mass matrix, by name."""
    coordinates, q, v = s.coordinates, s.q, s.v
    return {
        "mass": s.function("mass", "q p", s.mass),
        "norms": s.function("norms", "q", coordinates.norms(q)),
        "retract": ca.Function(
            "retract",
            [q, v],
            [_with_internal(s, coordinates.retract)(q, v)],
            ["q", "displacement"],
            ["moved"],
        ),
        "retract_matrix": ca.Function(
            "retract_matrix", [v], [coordinates.retract_matrix(v)], ["displacement"], ["T"]
        ),
        "renormalise": lambda: s.function(
            "renormalise", "q", _with_internal(s, coordinates.renormalise)(q)
        ),
        "poses": lambda: s.function("poses", "q v p", *_list_poses(s)),
    }


def nonholonomic_functions(s: SymbolicMechanism) -> dict[str, Any]:
    """Return the functions of a `Dynamics` that concern constraints on velocities, by name.

    Raises
    ------
    ValueError
        If one is not linear in velocities, or does not depend on them.
    """
    (rate,) = s.evaluate(ca.vertcat(ca.SX(0, 1), *s.speeds))
    B = ca.jacobian(rate, s.v)
    for element, rows in zip(s.rate_constraints, s.speeds, strict=True):
        (own,) = s.evaluate(ca.jacobian(rows, s.v))
        if ca.depends_on(own, s.v) or not own.nnz():
            raise ValueError(
                f"{type(element).__name__} {element.name!r} must be linear in velocities: keep the "
                "product of a row and a velocity, without squares or constants alone"
            )
    drift = ca.sparsify(ca.substitute(rate, s.v, ca.SX.zeros(s.v.numel())))
    return {
        "nonholonomic_names": _name_owners(s.rate_constraints, [x.numel() for x in s.speeds]),
        "nonholonomic_matrix": s.function("nonholonomic_matrix", "t q p", B),
        "nonholonomic_drift": s.function("nonholonomic_drift", "t q p", drift),
        "nonholonomic_bias": lambda: s.function("nonholonomic_bias", "t q v p", s.rate(rate)),
    }


def contact_functions(s: SymbolicMechanism) -> dict[str, Any]:
    """Return the functions of a `Dynamics` that concern contacts, by name."""
    gaps: list[Gap] = [gap for group in s.gaps for gap in group]
    function = ca.vertcat(ca.SX(0, 1), *(gap.function for gap in gaps))
    gradients = ca.horzcat(ca.SX(s.v.numel(), 0), *(_find_gradients(s, x) for x in s.gaps))
    slopes = ca.vertcat(ca.SX(0, 1), *(gap.slope for gap in gaps))
    normals = ca.horzcat(ca.SX(3, 0), *(gap.normal for gap in gaps))
    terms = s.evaluate(function, gradients, slopes, normals)  # at once: they share much
    gap, W, slope, normal = terms
    drift = ca.jacobian(function, s.t)
    rate = W.T @ s.v + s.evaluate(drift)[0]
    return {
        "contact_terms": s.function("contact_terms", "t q p", *terms),
        "gap": s.function("gap", "t q p", gap),
        "gap_matrix": s.function("gap_matrix", "t q p", W),
        "gap_drift": s.function("gap_drift", "t q p", drift),
        "gap_bias": lambda: s.function("gap_bias", "t q v p", s.rate(rate)),
        "distance": lambda: _make_column(s, "distance", [gap.distance for gap in gaps]),
        "slope": s.function("slope", "t q p", slope),
        "slope_rates": lambda: s.function("slope_rates", "t q v p", s.rate(slopes)),
        "contact_points": lambda: _make_columns(s, "contact_points", [gap.point for gap in gaps]),
        "contact_normals": s.function("contact_normals", "t q p", normal),
        "sliding": lambda: s.function("sliding", "t q v p", sliding(s, _with_frames(s))),
        "gap_scale": _make_of_parameters(s, "gap_scale", [gap.scale for gap in gaps]),
        "clearance": _make_of_parameters(s, "clearance", [gap.clearance for gap in gaps]),
        "contact_owners": _name_owners(s.contacts, [len(group) for group in s.gaps]),
        "contact_names": names_of_gaps(
            (contact.name, len(group)) for contact, group in zip(s.contacts, s.gaps, strict=True)
        ),
        **_make_bore_functions(s, gaps),
        **_make_friction_functions(s, gaps),
    }


def _find_gradients(s: SymbolicMechanism, gaps: Sequence[Gap]) -> ca.SX:
    """Return the gradients of the gaps of a contact by displacements, (nv, ng).

    Of the shorter kind: by as many passes as there are displacements, or gaps. They are still to be
    evaluated, for all contacts at once, as that takes no longer than for one.
    """
    rows = ca.vertcat(ca.SX(0, 1), *(gap.function for gap in gaps))
    if len(gaps) >= len({*ca.jacobian_sparsity(rows, s.displacement).T.row()}):
        return ca.jacobian(rows, s.displacement).T
    return ca.horzcat(*(ca.jacobian(gap.function, s.displacement).T for gap in gaps))


def _with_frames(s: SymbolicMechanism) -> list[tuple[Gap, tuple[Frame, ...]]]:
    """Return all gaps, of contacts and then of forces, with the frames that they are between."""
    groups = [(c.frames, group) for c, group in zip(s.contacts, s.gaps, strict=True)]
    groups += [(force.frames, [x.gap for x in surfaces]) for force, surfaces in s.pressed]
    return [(gap, frames) for frames, group in groups for gap in group]


def sliding(s: SymbolicMechanism, gaps: list[tuple[Gap, tuple[Frame, ...]]]) -> ca.SX:
    """Return the velocity at which the material of body b slides on that of a, (3, n) [m/s]."""
    columns = []
    for gap, frames in gaps:
        if gap.slip.numel():
            columns.append(gap.tangents @ gap.slip)
            continue
        a, b = s.state.motion(frames[0]), s.state.motion(frames[-1])
        u = b.velocity_at(gap.point) - a.velocity_at(gap.point)
        columns.append(u - gap.normal * ca.dot(gap.normal, u))
    return ca.horzcat(ca.SX(3, 0), *columns)


def names_of_gaps(owners: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """Return a name for each gap, from the name and the number of gaps of each owner."""
    return tuple(
        name if count == 1 else f"{name}[{k}]" for name, count in owners for k in range(count)
    )


def _make_bore_functions(s: SymbolicMechanism, gaps: list[Gap]) -> dict[str, Any]:
    """Return the functions of bores, among them their gaps as functions of the eccentricity.

    Raises
    ------
    ValueError
        If such a gap depends on the time or on coordinates beside the offset, or does not grow in
        proportion to offset and clearance.
    """
    bores = [gap.bore for gap in gaps if gap.bore is not None]
    offsets = [gap.bore.offset if gap.bore is not None else ca.SX.nan(3) for gap in gaps]
    owners = _name_owners(s.contacts, [len(group) for group in s.gaps])
    names = [name for name, gap in zip(owners, gaps, strict=True) if gap.bore is not None]
    _check_bores(s, names, bores)
    return {
        "bores": tuple(k for k, gap in enumerate(gaps) if gap.bore is not None),
        "contact_offsets": lambda: _make_columns(s, "contact_offsets", offsets),
        "bore_bends": lambda: s.function(
            "bore_bends", "t q v p", ca.vertcat(ca.SX(0, 1), *(_bend(s, gap.bore) for gap in gaps))
        ),
        "bore_axes": lambda: _make_columns(s, "bore_axes", [bore.axes for bore in bores]),
        "bore_gap": lambda: _make_gap_of_eccentricity(s, bores),
    }


def _make_gap_of_eccentricity(s: SymbolicMechanism, bores: list[Bore]) -> ca.Function:
    u = ca.SX.sym("u", 3, len(bores))
    inside = [bore.function(u[:, k], ca.SX(1)) for k, bore in enumerate(bores)]
    gradients = [ca.gradient(gap, u[:, k]) for k, gap in enumerate(inside)]
    values = [ca.vertcat(ca.SX(0, 1), *inside), ca.horzcat(ca.SX(3, 0), *gradients)]
    return ca.Function("bore_gap", [u, s.p], values, ["u", "p"], ["gap", "gradient"])


def _bend(s: SymbolicMechanism, bore: Bore | None) -> ca.SX:
    """Return the acceleration of a gap in a bore whose offset moves evenly [m/s^2]."""
    if bore is None:
        return ca.SX(0)
    d = ca.SX.sym("d", 3)
    curvature = ca.substitute(ca.hessian(bore.function(d, bore.clearance), d)[0], d, bore.offset)
    # Evenly in world axes, which do not turn with the body of the bore.
    rate = bore.axes.T @ s.rate(bore.axes @ bore.offset)
    return rate.T @ curvature @ rate


def _check_bores(s: SymbolicMechanism, names: list[str], bores: list[Bore]) -> None:
    """Refuse a gap function g that is none of offset and clearance, or not g(2 d, 2 c) = 2 g."""
    d, c = ca.SX.sym("d", 3), ca.SX.sym("c")
    gaps = ca.vertcat(ca.SX(0, 1), *(bore.function(d, c) for bore in bores))
    moving = ca.jacobian_sparsity(gaps, ca.vertcat(s.t, s.q, s.displacement)).row()
    if moving:
        raise ValueError(
            f"the gap function of the bore {names[min(moving)]!r} depends on the time or on "
            "coordinates beside the offset: state it of the offset, the clearance, numbers and "
            "Parameters"
        )
    function = ca.Function("gaps", [d, c, s.p], [gaps])
    p, u = [x.value for x in s.parameters], np.array([0.3, -0.2, 0.1])  # any within the bore
    once, twice = (np.asarray(function(c * u, c, p)).ravel() for c in (1.0, 2.0))
    off = ~np.isclose(twice, 2 * once, rtol=1e-9, atol=0)
    for name, one, two in zip(np.array(names)[off], once[off], twice[off], strict=True):
        raise ValueError(
            f"the gap function of the bore {str(name)!r} is {one:g} m at an offset and a "
            f"clearance, and {two:g} m at twice both: state its other lengths as multiples of the "
            "clearance"
        )


def _make_friction_functions(s: SymbolicMechanism, gaps: list[Gap]) -> dict[str, Any]:
    """Return the laws of the gaps, and the functions of their slips."""
    slip = ca.vertcat(ca.SX(0, 1), *(gap.slips for gap in gaps))
    drags, kinetic, static, directions = list[Drag](), list[ca.SX](), list[ca.SX](), list[ca.SX]()
    count = 0
    for k, gap in enumerate(gaps):
        for name, rates in gap.drags.items():
            slides, peak = name == "friction", gap.law.static_friction
            entries = tuple(range(count, count := count + rates.numel()))
            drags.append(Drag(k, entries, not slides, slides and peak is not None))
            limit = getattr(gap.law, name)
            kinetic.append(s.state.value(limit))
            static.append(s.state.value(peak) if slides and peak is not None else kinetic[-1])
            directions.append(gap.tangents if slides else ca.SX(3, rates.numel()))
    T, (evaluated,) = ca.jacobian(slip, s.v).T, s.evaluate(slip)
    drift = ca.sparsify(ca.substitute(evaluated, s.v, ca.SX.zeros(s.v.numel())))
    return {
        "slip_matrix": s.function("slip_matrix", "t q p", T),
        "slip_drift": s.function("slip_drift", "t q p", drift),
        "slip_bias": lambda: s.function("slip_bias", "t q v p", s.rate(evaluated)),
        "slip_directions": _make_columns(s, "slip_directions", directions),
        "slip_contacts": tuple(x.contact for x in drags for _ in x.slips),
        "drags": tuple(drags),
        **{name: _make_of_laws(s, name, gaps) for name in LAW},
        "drag": _make_of_parameters(s, "drag", kinetic),
        "static_drag": _make_of_parameters(s, "static_drag", static),
    }


def _make_of_laws(s: SymbolicMechanism, name: str, gaps: list[Gap]) -> ca.Function:
    return _make_of_parameters(s, name, [s.state.value(getattr(gap.law, name)) for gap in gaps])


def _make_of_parameters(s: SymbolicMechanism, name: str, entries: list[ca.SX]) -> ca.Function:
    return s.function(name, "p", ca.vertcat(ca.SX(0, 1), *entries))


def _make_column(s: SymbolicMechanism, name: str, entries: list[ca.SX]) -> ca.Function:
    return s.function(name, "t q p", ca.vertcat(ca.SX(0, 1), *entries))


def _make_columns(s: SymbolicMechanism, name: str, entries: list[ca.SX]) -> ca.Function:
    return s.function(name, "t q p", ca.horzcat(ca.SX(3, 0), *entries))


def _name_owners(elements: Iterable[Element], sizes: list[int]) -> tuple[str, ...]:
    """Return the name of the element of each entry, given how many each has."""
    return tuple(e.name for e, n in zip(elements, sizes, strict=True) for _ in range(n))


def _with_internal(s: SymbolicMechanism, function: Callable[..., ca.SX]) -> Callable[..., ca.SX]:
    """Return a map of coordinates that leaves internal states as they are."""
    if not s.internal_names:  # of one coordinate the empty rest is 1 x 0, not 0 x 1
        return function
    return lambda q, *more: ca.vertcat(function(q, *more), q[s.n_joint_coordinates :])


def _list_poses(s: SymbolicMechanism) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    names = [body.name for body in s.mechanism.bodies]
    quaternions = s.coordinates.quaternions(s.q)
    return (
        ca.horzcat(*(s.motions[name].r for name in names)),
        ca.horzcat(*(quaternions[name] for name in names)),
        ca.horzcat(*(s.motions[name].v for name in names)),
        ca.horzcat(*(s.motions[name].w for name in names)),
    )


SLIDES = (X, Y, Z)


def joint_coordinate_functions(s: SymbolicMechanism) -> dict[str, Any]:
    """Return the functions of a `Dynamics` that concern freedoms of joints, by name.

    Of joints that slide along axes of frame a and turn about its z; joints that turn in other ways
    have none.
    """
    names: list[str] = []
    units: list[str] = []
    values: list[ca.SX] = []
    rates: list[ca.SX] = []
    for joint in s.mechanism.joints:
        for axis in _list_axes(joint):
            names.append(f"{joint.name}.{axis.name}")
            units.append("rad" if any(axis.turn) else "m")
            value, rate = _measure_coordinate(s, joint, axis)
            values.append(value)
            rates.append(rate)
    columns = (ca.vertcat(ca.SX(0, 1), *x) for x in (values, rates))
    return {
        "freedom_names": tuple(names),
        "freedom_units": tuple(units),
        "freedoms": s.function("freedoms", "t q v p", *columns),
    }


def _list_axes(joint: Constraint) -> list[Axis]:
    """Return the freedoms of a joint that has slides and at most one turn, about z of frame a."""
    freedom = joint.freedom() or ()
    axes = [axis for axis in freedom if isinstance(axis, Axis)]
    turning = [axis for axis in axes if any(axis.turn)]
    if len(axes) < len(freedom) or any(axis.turn != Z for axis in turning) or len(turning) > 1:
        return []
    return axes


def _measure_coordinate(s: SymbolicMechanism, joint: Constraint, axis: Axis) -> tuple[ca.SX, ca.SX]:
    """Return an angle [rad] or length [m] and its rate, from the motions of both frames."""
    a, b = (s.state.motion(frame) for frame in joint.frames)
    if any(axis.turn):
        x = b.A[:, 0]
        angle = ca.atan2(ca.dot(a.A[:, 1], x), ca.dot(a.A[:, 0], x))
        return angle, ca.dot(a.A[:, 2], b.w - a.w)
    along = a.A[:, SLIDES.index(axis.slide)]
    return ca.dot(along, b.r - a.r), ca.dot(along, b.v - a.velocity_at(b.r))
