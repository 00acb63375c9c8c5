"""Starts of motions: checked before anything is solved, made consistent on request."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nsopt.algebra import rank
from nsopt.arrays import Array
from nsopt.mechanics.equations.dynamics import Dynamics
from nsopt.mechanics.starts.closing import ALIGNED, flatten, inverse_root
from nsopt.mechanics.starts.nearest import nearest_posture
from nsopt.mechanics.starts.redundancy import over_determined

CLOSURE_TOLERANCE = 1e-9
"""Residual of joints [m, 1] or of their rates [m/s, rad/s] up to which a start is allowed."""

GAP_TOLERANCE = 1e-10  # how far [m] contacts may start inside each other


@dataclass(frozen=True, eq=False)
class Start:
    """The state a motion starts from.

    Attributes
    ----------
    q : (nq,)
        Coordinates; Euler parameters of norm one.
    v : (nv,)
        Velocities, angular ones in body axes.
    t : float [s]
    """

    q: Array
    v: Array
    t: float = 0.0

    @classmethod
    def stated(cls, dynamics: Dynamics, parameters: Mapping[str, float] | None = None) -> Start:
        """Return the start stated by the bodies of a mechanism."""
        return cls(*dynamics.stated_start(parameters))

    @classmethod
    def named(
        cls,
        dynamics: Dynamics,
        coordinates: Mapping[str, float],
        velocities: Mapping[str, float] | None = None,
    ) -> Start:
        """Return the stated start with some coordinates and velocities given by name.

        Parameters
        ----------
        dynamics : Dynamics
        coordinates, velocities : mapping of name to float
            Names of `Dynamics.q_names` and ``v_names``, or of joints of one freedom.

        Raises
        ------
        ValueError
            If a name is unknown, or that of a joint of several freedoms.
        """
        q, v = dynamics.stated_start()
        for x, names, given in (
            (q, dynamics.q_names, coordinates),
            (v, dynamics.v_names, velocities or {}),
        ):
            for name, value in given.items():
                x[entry_named(name, names)] = value
        return cls(q, v)


def entry_named(name: str, names: Sequence[str]) -> int:
    """Return the index of a coordinate or velocity, or of the only one of a joint, in ``names``.

    Raises
    ------
    ValueError
        If the name is unknown, or that of a joint of several freedoms.
    """
    found = [k for k, x in enumerate(names) if name in (x, x.rsplit(".", 1)[0])]
    if len(found) != 1:
        what = f"is {len(found)} coordinates" if found else "is no coordinate"
        raise ValueError(f"{name!r} {what}: name one of {', '.join(names)}")
    return found[0]


def check_start(
    dynamics: Dynamics, start: Start, p: Array, brought: str = "", stacklevel: int = 2
) -> None:
    """Refuse a start that the joints and contacts do not allow.

    Parameters
    ----------
    dynamics : Dynamics
    start : Start
    p : (np,)
    brought : str
        In words, what brings open joints back during the run, such as a stabilisation; they are
        then warned of. Empty if nothing does: they are refused.
    stacklevel : int
        Of the warning, as of `warnings.warn`.

    Warns
    -----
    UserWarning
        Naming the joint, by how much it is off, and how it comes back.

    Raises
    ------
    ValueError
        Naming the joint or contact, by how much it is violated, and the remedy.
    """
    _check_numbers(dynamics, start)
    at = (start.t, start.q, p)
    closure = flatten(dynamics.closure(*at))
    speed = flatten(dynamics.closure_matrix(*at) @ start.v + dynamics.closure_drift(*at))
    if brought:
        _warn_of_joints(dynamics, closure, speed, brought, stacklevel + 1)
    else:
        _check_joints(dynamics, at, closure, speed)
    _check_rates(dynamics, at, start.v)
    distance = flatten(dynamics.distance(*at))
    for name, value in zip(dynamics.contact_names, distance, strict=True):
        if not np.isfinite(value):
            raise ValueError(
                f"the distance of contact {name!r} is {value} at the start: put its bodies where "
                "its gap function has a value"
            )
    inside = np.minimum(distance, 0)
    _refuse(inside, dynamics.contact_names, GAP_TOLERANCE, "starts inside the wall by {:.3g} m")


def _check_rates(d: Dynamics, at: tuple[float, Array, Array], v: Array) -> None:
    """Refuse velocities that constraints on them do not allow, and rows that follow from others."""
    if not d.nonholonomic_names:
        return
    check_rate_rows(d, *at)
    B, drift = (np.asarray(f(*at)) for f in (d.nonholonomic_matrix, d.nonholonomic_drift))
    text = "slips by {:.3g} (m/s, or rad/s)"
    _refuse(B @ v + drift.ravel(), d.nonholonomic_names, CLOSURE_TOLERANCE, text)


def check_rate_rows(d: Dynamics, t: float, q: Array, p: Array) -> None:
    """Refuse rows of constraints on velocities that follow from others: forces would be any.

    Raises
    ------
    ValueError
        Naming the constraint.
    """
    rows, B = (np.asarray(f(t, q, p)) for f in (d.closure_matrix, d.nonholonomic_matrix))
    rows = rows.reshape(-1, d.nv)
    for name, row in zip(d.nonholonomic_names, B, strict=True):
        more = np.vstack([rows, row])
        if rank(more) == rank(rows):
            raise ValueError(
                f"a row of the constraint on velocities {name!r} follows from joints and those "
                "before it: leave it out, as one of two wheels on an axle must slip along it"
            )
        rows = more


def _warn_of_joints(
    d: Dynamics, closure: Array, speed: Array, brought: str, stacklevel: int
) -> None:
    off = []
    texts = "{:.3g} (m, or rad) off", "{:.3g} (m/s, or rad/s) off its speed"
    for x, text in zip((closure, speed), texts, strict=True):
        if x.size and np.max(np.abs(x)) > CLOSURE_TOLERANCE:
            joint = d.closure_names[int(np.argmax(np.abs(x)))]
            size = np.linalg.norm(x[[name == joint for name in d.closure_names]])
            off.append(f"joint {joint!r} is {text.format(size)}")
    if off:
        warnings.warn(
            f"at the start {' and '.join(off)}: {brought} brings it back", stacklevel=stacklevel
        )


def _check_joints(
    dynamics: Dynamics, at: tuple[float, Array, Array], closure: Array, speed: Array
) -> None:
    _refuse(closure, dynamics.closure_names, CLOSURE_TOLERANCE, "is open by {:.3g} (m, or rad)")
    misaligned = np.maximum(ALIGNED - flatten(dynamics.alignment(*at)), 0)
    text = "closes with its frames turned the wrong way"
    _refuse(misaligned, dynamics.alignment_names, 0.0, text)
    text = "is torn apart at {:.3g} (m/s, or rad/s)"
    _refuse(speed, dynamics.closure_names, CLOSURE_TOLERANCE, text)


def _check_numbers(dynamics: Dynamics, start: Start) -> None:
    if not np.isfinite(start.t):
        raise ValueError(f"start.t must be a finite number of seconds, got {start.t}")
    for name, x, labels in (("q", start.q, dynamics.q_names), ("v", start.v, dynamics.v_names)):
        if np.shape(x) != (len(labels),):
            raise ValueError(f"start.{name} must have shape ({len(labels)},), got {np.shape(x)}")
        if not np.all(np.isfinite(x)):
            k = int(np.argmin(np.isfinite(x)))
            raise ValueError(f"start.{name} must be finite, but {labels[k]} is {x[k]}")
    norm_error = flatten(dynamics.norms(start.q)) - 1
    if np.any(np.abs(norm_error) > CLOSURE_TOLERANCE):
        raise ValueError("Euler parameters in start.q must have norm 1: normalise them")


def _refuse(violation: Array, names: tuple[str, ...], tolerance: float, text: str) -> None:
    """Raise an error that names the largest violation, if it exceeds a tolerance."""
    if violation.size == 0 or np.max(np.abs(violation)) <= tolerance:
        return
    k = int(np.argmax(np.abs(violation)))
    raise ValueError(
        f"the start violates joint {names[k]!r}: it {text.format(abs(violation[k]))}; correct the "
        "pose or velocity of its bodies, or give start=consistent(dynamics) to the run"
    )


def consistent(
    dynamics: Dynamics,
    start: Start | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Start:
    """Return the nearest start, in the metric of the mass, that joints and contacts allow.

    Joints that the stated poses close stay closed, the others are cut, and the displacement u from
    the start is measured in the coordinates of the tree that is left, by u.M u at the start: the
    same for absolute and relative coordinates. Bodies that nothing holds have six
    coordinates. Velocities are then projected onto what joints and constraints on velocities allow,
    by the mass matrix there. A start that is closed stays as it is.

    Raises
    ------
    ValueError
        If no closed start is found, with the joint that stays open and how far it got.
    """
    p = dynamics.values(parameters)
    t = start.t if start else 0.0
    stated = (start.q, start.v) if start else None
    (q, v), left_open = nearest_posture(dynamics, t, stated, p)
    matrices = (dynamics.closure_matrix, dynamics.nonholonomic_matrix)
    C = np.vstack([np.asarray(f(t, q, p)).reshape(-1, dynamics.nv) for f in matrices])
    drift = flatten(dynamics.multiplier_drift(t, q, p))
    if np.any(C @ v + drift):
        root = inverse_root(np.asarray(dynamics.mass(q, p)))
        inverse = root @ np.linalg.pinv(C @ root, rcond=1e-10)  # of C, least in the mass metric
        for _ in range(2):  # again, to round-off where masses are far apart
            v = v - inverse @ (C @ v + drift)
    nearest = Start(q, v, t)
    try:
        check_start(dynamics, nearest, p)
    except ValueError as refusal:
        fault = over_determined(dynamics, t, q, p) or left_open or str(refusal).split(";")[0]
        raise ValueError(f"no consistent start near the stated one: {fault}") from None
    return nearest
