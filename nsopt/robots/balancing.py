"""Static balancing: springs that carry a robot's weight over a range of postures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
import scipy

from nsopt.arrays import Array
from nsopt.checks import NOT_IN_MECHANISM, check_names, finite
from nsopt.elements import ExtensionSpring, JointDrives
from nsopt.mechanics import Contact, Dynamics, Element, Mechanism, assemble
from nsopt.parameter import Numbers
from nsopt.robots.newton_euler import EARTH

CLOSED = 1e-6  # by how much [m, rad] a loop may be open in a posture
SINGULAR = 1e-9  # singular values below this part of the largest, or of one, count as zero
TOLERANCE = 1e-15  # relative change of cost and unknowns, and slope, at which the fit ends


@dataclass(frozen=True, eq=False)
class SpringFit:
    """Fitted springs, and the static torques of the motors without and with the fit.

    Attributes
    ----------
    parameters : mapping of name to float
        The fitted values, SI.
    columns : tuple of str
        ``joint.rate`` of each column of the torques.
    before, after : (n, k) [N m] or [N]
        Static torque that the motors of the joints give, one row a posture, with the stated and
        with the fitted values.
    slack : mapping of name to float [m]
        Of each `ExtensionSpring`: its smallest length in any posture less its free length. Where
        it is negative, the coils of a real spring would touch.
    mechanism, elements
        As stated, with the fitted values.
    converged : bool
        Whether the fit ended by its tolerances.
    """

    parameters: Mapping[str, float]
    columns: tuple[str, ...]
    before: Array
    after: Array
    slack: Mapping[str, float]
    mechanism: Mechanism
    elements: tuple[Element, ...]
    converged: bool


def fit_springs(
    mechanism: Mechanism,
    elements: Iterable[Element],
    gravity: Numbers = EARTH,
    *,
    postures: Sequence[Numbers] | Array,
    joints: Iterable[str],
    bounds: Mapping[str, tuple[float, float]],
) -> SpringFit:
    """Choose Parameters of springs so that joints need the least static torque.

    Least sum of squares over all postures and joints, from the stated values, with the springs'
    forces of [CHARMIE 2023, eq. 35; the sign in print is wrong, section 5.2] differentiated
    exactly.

    Parameters
    ----------
    mechanism : Mechanism
        In relative coordinates.
    elements : sequence of Element
        Springs with Parameters in their numbers and the origins of their frames, and any other
        force. `JointDrives` are left out: what they would have to do is the question.
    gravity : (3,) [m/s^2]
    postures : (n, nq)
        Coordinates over which to balance, in the order of the mechanism's; loops closed.
    joints : sequence of str
        Joints of the tree to balance. Without loops the others are kept by motors of their own;
        with loops name as many freedoms as the loops leave: those that are driven.
    bounds : mapping of Parameter name to (lower, upper)
        Which Parameters to choose, and from where to where; either end may be infinite. Masses
        and lengths may be among them, but no length on which loops depend.

    Raises
    ------
    ValueError
        If coordinates are not relative, a posture has another size, is not finite or leaves a loop
        open, a joint or Parameter is unknown, bounds are reversed or do not hold the stated value,
        the named joints do not determine the motion of loops, or a contact is among the elements.

    Notes
    -----
    The problem is not convex where places are chosen: other stated values may lead to a better fit.
    """
    members = tuple(elements)
    if not mechanism.is_relative:
        raise ValueError(
            "fit_springs takes joint coordinates as postures: state "
            'Mechanism(..., coordinates="relative")'
        )
    for element in members:
        if isinstance(element, Contact):
            raise ValueError(
                f"{type(element).__name__} {element.name!r} has no static force of its own: give "
                "an ideal joint in its place"
            )
    d = assemble(mechanism, [e for e in members if not isinstance(e, JointDrives)], gravity)
    low, high = _check_bounds(d, bounds)
    rows = _find_entries(d, tuple(joints))
    checked = [finite(f"posture {k} of fit_springs", x, (d.nq,)) for k, x in enumerate(postures)]
    if not checked:
        raise ValueError("fit_springs needs at least one posture")
    torque = _StaticTorque(d, rows, np.array(checked), tuple(bounds))
    start = torque.values
    ends = [np.where(np.isfinite(x), x, start) for x in (low, high)]
    for end in ends:  # numbers that an element refuses are refused before the fit
        d.values(dict(zip(bounds, end, strict=True)))
    fit = scipy.optimize.least_squares(
        torque.stack,
        start,
        jac=torque.slope,
        bounds=(low, high),
        x_scale=np.where(np.isfinite(high - low), high - low, np.maximum(np.abs(start), 1.0)),
        ftol=TOLERANCE,
        xtol=TOLERANCE,
        gtol=TOLERANCE,
        max_nfev=1000,
    )
    values = {name: float(x) for name, x in zip(bounds, fit.x, strict=True)}
    whole = assemble(mechanism, members, gravity)
    fitted_mechanism, fitted_elements, _ = whole.restated(whole.values(values))
    return SpringFit(
        parameters=values,
        columns=tuple(d.v_names[i] for i in torque.rows),
        before=torque(start),
        after=torque(fit.x),
        slack=_find_slack(d, torque.postures, d.values(values)),
        mechanism=fitted_mechanism,
        elements=fitted_elements,
        converged=fit.status > 0,
    )


class _StaticTorque:
    """Torques of motors at rest, of the joints at ``rows`` of v, by the parameters ``names``."""

    def __init__(
        self, d: Dynamics, rows: list[int], postures: Array, names: tuple[str, ...]
    ) -> None:
        self.rows, self.postures = rows, postures
        order = [x.name for x in d.parameters]
        self.stated, chosen = d.values(), [order.index(name) for name in names]
        self.values = self.stated[chosen]
        q, p = ca.SX.sym("q", d.nq), ca.SX.sym("p", len(order))
        force = d.applied(0, q, ca.SX.zeros(d.nv), p)
        slope = ca.densify(ca.jacobian(force, p)[:, chosen])
        self._chosen = chosen
        self._force = ca.Function("static", [q, p], [ca.densify(force), slope])
        _check_loops(d, q, p, chosen)
        self._drive_matrices = [
            _find_drive_matrix(d, x, self.stated, rows, k) for k, x in enumerate(postures)
        ]

    def _at(self, x: Array, output: int) -> list[Array]:
        """Return the torques, output 0, or their derivatives, 1, in each posture."""
        p = self.stated.copy()
        p[self._chosen] = x
        pairs = zip(self._drive_matrices, self.postures, strict=True)
        return [np.asarray(-B @ self._force(q, p)[output]) for B, q in pairs]

    def __call__(self, x: Array) -> Array:
        """Return the torques, (n, k)."""
        return np.array([value[:, 0] for value in self._at(x, 0)])

    def stack(self, x: Array) -> Array:
        """Return the torques, posture by posture, (n k,)."""
        return self(x).ravel()

    def slope(self, x: Array) -> Array:
        """Return the derivatives of the torques by the parameters, (n k, np)."""
        return np.vstack(self._at(x, 1))


def _find_drive_matrix(d: Dynamics, q: Array, p: Array, rows: list[int], k: int) -> Array:
    """Return the matrix B (motors, nv) from generalized forces to equal forces of the motors.

    Equal, as they do the same work along the motions that loops leave: Z^T S^T B = Z^T. ``k`` is
    the number of the posture q.
    """
    S = np.eye(d.nv)[rows]  # from v to the rates of motors
    if not d.constraints:
        return S
    off = np.abs(np.asarray(d.closure(0, q, p))).ravel()
    if off.max(initial=0.0) > CLOSED:
        worst = int(np.argmax(off))
        raise ValueError(
            f"posture {k} leaves joint {d.closure_names[worst]!r} open by {off[worst]:.3g} (m, or "
            "rad): give postures in which loops are closed"
        )
    _, sizes, V = np.linalg.svd(np.asarray(d.closure_matrix(0, q, p)))
    Z = V[int(np.sum(sizes > SINGULAR * sizes[0])) :].T  # (nv, freedoms)
    left = Z.shape[1]
    if len(rows) != left:
        raise ValueError(
            f"loops leave {left} freedoms in posture {k}, but {len(rows)} are to be balanced: name "
            f"{left} joints that are driven, or leave out a posture where loops can fold"
        )
    driven = S @ Z
    if np.linalg.svd(driven)[1].min(initial=np.inf) < SINGULAR:
        named = ", ".join(d.v_owners[i] for i in rows)
        raise ValueError(
            f"joints {named} do not determine the motion of the loops in posture {k}: name others, "
            "or leave that posture out"
        )
    B: Array = np.linalg.solve(driven.T, Z.T)
    return B


def _check_loops(d: Dynamics, q: ca.SX, p: ca.SX, chosen: list[int]) -> None:
    """Refuse chosen parameters on which the closing of loops depends."""
    loops = ca.vertcat(d.closure(0, q, p), ca.vec(d.closure_matrix(0, q, p)))
    for i in chosen:
        if ca.depends_on(loops, p[i]):
            raise ValueError(
                f"loops depend on the Parameter {d.parameters[i].name!r}: choose it beforehand, "
                "postures would open them"
            )


def _check_bounds(d: Dynamics, bounds: Mapping[str, tuple[float, float]]) -> tuple[Array, Array]:
    known = {x.name: x.value for x in d.parameters}
    if not bounds:
        raise ValueError("bounds are empty: name at least one Parameter to choose")
    check_names("bounds name the Parameter", bounds, known, NOT_IN_MECHANISM)
    for name, (low, high) in bounds.items():
        if not low < high:
            raise ValueError(
                f"bounds of the Parameter {name!r} must be lower < upper, got {low} and {high}"
            )
        if not low <= known[name] <= high:
            raise ValueError(
                f"the Parameter {name!r} is stated as {known[name]:g}, outside its bounds {low:g} "
                f"and {high:g}: the fit starts there, state a value between"
            )
    ends = np.array(list(bounds.values()), dtype=float)
    return ends[:, 0], ends[:, 1]


def _find_entries(d: Dynamics, joints: tuple[str, ...]) -> list[int]:
    """Return the indices in v of the joints to balance."""
    owners = d.v_owners
    why = ", which has no coordinates"
    check_names("fit_springs is to balance the joint", joints, owners, why)
    if not joints:
        raise ValueError("fit_springs is to balance no joint: name at least one")
    return [i for name in dict.fromkeys(joints) for i, owner in enumerate(owners) if owner == name]


def _find_slack(d: Dynamics, postures: Array, p: Array) -> dict[str, float]:
    """Return the least length of each extension spring less its free length [m], by name."""
    slack, still = {}, np.zeros(d.nv)
    outputs = np.array([np.asarray(d.outputs(0, q, still, p)).ravel() for q in postures])
    for spring in d.restated(p)[1]:
        if isinstance(spring, ExtensionSpring):
            lengths = outputs[:, d.output_names.index(f"{spring.name}.length")]
            free = finite("free_length", spring.free_length, ())
            slack[spring.name] = float(lengths.min() - free)
    return slack
