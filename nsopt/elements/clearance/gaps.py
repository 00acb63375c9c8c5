"""The gaps that clearance joints are made of: a point in a bore, a point behind a plane."""

import casadi as ca

from nsopt.checks import not_negative, positive
from nsopt.mechanics import Bore, Gap
from nsopt.parameter import Scalar


def check_bore(of_element: str, clearance: Scalar, radius: Scalar, ideal: str) -> None:
    """Refuse a clearance that is not positive, for which to use ``ideal``, or a negative radius."""
    positive(f"clearance {of_element}", clearance, f"for a joint without clearance use {ideal}")
    not_negative(f"radius {of_element}", radius)


def gap_in_bore(offset: ca.SX, clearance: ca.SX, point: ca.SX, radius: ca.SX, axes: ca.SX) -> Gap:
    """Return the gap of a point that may leave an axis (or a centre) by a clearance; no tangents.

    ``distance = c - |d|`` [NLP-clearance 2024, eq. 36; there with the other sign]. Its gradient
    has no direction at d = 0, so the solver sees ``(c^2 - |d|^2) / (2 c)``: the same zero, unit
    gradient there, smooth everywhere, with slope |d| / c.

    Parameters
    ----------
    offset : (3,) [m]
        d, from the axis to the point of the outer body, world axes [errata of eq. 34].
    clearance : scalar [m]
    point : (3,) [m]
        That point.
    radius : scalar [m]
        Radius of the bore: the surfaces touch that far from the point, against d (eq. 37).
    axes : (3, 3)
        Of the frame in which the offset is reported.
    """
    # Exact to round-off away from the centre; there the direction is zero, not NaN.
    length = ca.sqrt(ca.sumsqr(offset) + (1e-9 * clearance) ** 2)
    outward = offset / length

    bore = Bore(axes.T @ offset, axes, clearance, _state_round_gap)
    return Gap(
        distance=clearance - length,
        function=_state_round_gap(bore.offset, clearance),
        point=point - radius * outward,
        normal=-outward,
        scale=clearance,
        clearance=clearance,
        bore=bore,
        slope=length / clearance,  # as that of `Bore.gap`, in fewer operations
    )


def _state_round_gap(d: ca.SX, c: ca.SX) -> ca.SX:
    """Return the gap function of a round bore [m]."""
    return (c**2 - ca.sumsqr(d)) / (2 * c)


def gap_behind_plane(
    point: ca.SX, on_plane: ca.SX, normal: ca.SX, clearance: ca.SX, tangents: ca.SX
) -> Gap:
    """Return the gap of a point and a plane whose unit normal points to the point's side.

    [NLP-clearance 2024, eqs. 38, 41]. ``tangents`` (3, k) are the directions of slip.
    """
    distance = ca.dot(point - on_plane, normal)
    return Gap(distance, distance, point, normal, clearance, clearance, tangents=tangents)
