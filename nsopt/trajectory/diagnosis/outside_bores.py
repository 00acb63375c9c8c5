"""A warning of guesses that take pins far out of their bores."""

from __future__ import annotations

import warnings

import casadi as ca
import numpy as np

from nsopt.trajectory.transcription.base import Array, Transcription

FAR = 10.0
"""Distance by which a pin may begin outside its bore, over the clearance."""


def warn_outside_bores(transcription: Transcription, x: Array, p: Array) -> None:
    """Warn of unknowns x (n,) from which clearance joints may not be found together again."""
    d = transcription.dynamics
    if not d.bores:
        return
    (times, q, _), bores = transcription.nodes(x), list(d.bores)
    t, q_, p_ = ca.SX.sym("t"), ca.SX.sym("q", d.nq), ca.SX.sym("p", len(d.parameters))
    offsets = d.contact_offsets(t, q_, p_)[:, bores]  # (3, bores) [m]
    sizes = [ca.sqrt(ca.sum1(offsets**2)).T, d.clearance(p_)[bores]]
    columns = ca.Function("offset", [t, q_, p_], sizes).map(len(times))(
        times, q.T, np.tile(p[:, None], len(times))
    )
    distances, clearances = (np.asarray(x) for x in columns)  # (bores, nodes) [m]
    outside = distances / clearances - 1
    k, node = (int(i) for i in np.unravel_index(np.argmax(outside), outside.shape))
    if not outside[k, node] > FAR:
        return
    warnings.warn(
        f"the guess takes {d.contact_names[bores[k]]!r} {distances[k, node]:.3g} m apart at "
        f"t = {times[node]:.4g} s, {distances[k, node] / clearances[k, node]:.0f} times its "
        "clearance: from there a motion may not be found, or after long; begin with FromIdeal, or "
        "with Through postures that hold the joint together",
        stacklevel=4,
    )
