"""The steps of a run as they are accepted, and the Result they make."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

import casadi as ca
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics, Force, Frame, Start
from nsopt.parameter import number
from nsopt.result import Result
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.record.dataset import Record

Array = NDArray[np.float64]


@dataclass
class History:
    """Accepted steps of one run.

    Parameters
    ----------
    every : int
        Only every that many steps are kept, and the last one; work, losses, iterations, retries
        and solver time are the sums since the one kept before.
        Where steps are left out their starts are not known, and directions of contact forces are
        those at the end of the step for every scheme.
    gains : float, float [1/s], optional
        `Scheme.gains`, by which ideal joints are brought back.

    Attributes
    ----------
    kept : list of AcceptedSteps
    pending : AcceptedSteps or None
        Steps since the last kept one.
    count : int
        All steps so far.
    """

    dynamics: Dynamics
    start: Start
    p: Array
    every: int = 1
    gains: tuple[float, float] | None = None
    kept: list[AcceptedSteps] = field(default_factory=list)
    pending: AcceptedSteps | None = None
    count: int = 0

    def add(self, accepted: AcceptedSteps) -> None:
        """Append consecutive steps."""
        if not len(accepted):
            return
        self.count += len(accepted)
        if self.every == 1:
            self.kept.append(accepted)
            return
        steps = accepted if self.pending is None else AcceptedSteps.joined([self.pending, accepted])
        whole = len(steps) // self.every * self.every
        if whole:
            self.kept.append(steps.at(slice(whole)).thinned(self.every))
        self.pending = steps.at(slice(whole, None)) if whole < len(steps) else None

    def kept_after(self, blocks: int) -> AcceptedSteps:
        """Return the kept steps beyond the first ``blocks``; they are one block from then on."""
        new = self.kept[blocks:]
        if not new:
            return AcceptedSteps.none(self.dynamics)
        self.kept[blocks:] = [AcceptedSteps.joined(new)]
        return self.kept[-1]

    def restore(self, kept: AcceptedSteps, pending: AcceptedSteps, count: int) -> None:
        """Go on from another history of the same run."""
        self.kept, self.count = [kept] if len(kept) else [], count
        self.pending = pending if len(pending) else None

    def steps(self) -> AcceptedSteps:
        """Return the steps that are kept."""
        rest = [] if self.pending is None else [self.pending.thinned(len(self.pending))]
        if not self.kept and not rest:
            return AcceptedSteps.none(self.dynamics)
        self.kept = [AcceptedSteps.joined(self.kept)] if self.kept else []
        return AcceptedSteps.joined([*self.kept, *rest])

    def result(
        self, attrs: Mapping[str, Any], at_nodes: tuple[Array, Array] | None = None
    ) -> Result:
        """Return the record of the run so far; ``at_nodes`` as for `Record`."""
        table = Record(
            self.dynamics,
            self.start,
            self.p,
            self.steps(),
            self.every > 1,
            at_nodes,
            self.gains,
        )
        data = xr.Dataset(
            table.variables(),
            coords=table.coordinates(),
            attrs={
                "gap_scales": self._sizes("gap_scale", "pressed_scale"),
                "clearances": self._sizes("clearance", "pressed_clearance"),
                "pressed": len(self.dynamics.pressed_names),
                **provenance(self.dynamics, self.p),
                **table.redundant(),
                "internal_states": len(self.dynamics.internal_names),
                "steps": self.count,
                "store_every": self.every,
                **attrs,
            },
        )
        data["time"].attrs["units"] = "s"
        return Result(data)

    def _sizes(self, *names: str) -> Array:
        """Return functions of the parameters one after another."""
        values = [np.asarray(getattr(self.dynamics, name)(self.p)).ravel() for name in names]
        return np.concatenate(values)


@lru_cache(maxsize=16)
def model_hash(dynamics: Dynamics) -> str:
    """Return a hash of all functions of a mechanism, contact laws included."""
    members = (getattr(dynamics, f.name) for f in fields(dynamics))
    functions = (f.serialize() for f in members if isinstance(f, ca.Function))
    return hashlib.sha256("".join(functions).encode()).hexdigest()[:16]


@cache
def _version(package: str) -> str:
    return version(package)


def provenance(dynamics: Dynamics, p: Array) -> dict[str, Any]:
    """Return the provenance of a result: versions, model, parameters, geometry for pictures."""
    values = {parameter.name: float(x) for parameter, x in zip(dynamics.parameters, p, strict=True)}
    mechanism, elements, gravity = dynamics.restated(p)
    members = (*mechanism.joints, *elements)
    bodies = [body.name for body in mechanism.bodies]

    def body_index(frame: Frame) -> int:
        return -1 if frame.body is None else bodies.index(frame.body.name)

    outline = [
        {"body": body_index(line.frame), "points": _in_body_axes(line.frame, line.points)}
        for member in members
        for line in member.outline()
    ]
    frames = [
        {"element": member.name, "body": body_index(frame), "origin": number(frame.origin).tolist()}
        for member in members
        if not isinstance(member, Force)
        for frame in member.frames
    ]
    return {
        "nsopt_version": _version("nsopt"),
        "casadi_version": _version("casadi"),
        "numpy_version": np.__version__,
        "model_hash": model_hash(dynamics),
        "parameters": json.dumps(values),
        "gravity": number(gravity),
        "outline": json.dumps(outline),
        "plot_data": json.dumps({e.name: e.plot_data() for e in elements if isinstance(e, Force)}),
        "frames": json.dumps(frames),
        "ideal_joints": len(tuple(mechanism.joints)),
    }


def _in_body_axes(frame: Frame, points: Array) -> list[list[float]]:
    placed = number(frame.origin) + points @ np.asarray(frame.axes).T
    rounded: list[list[float]] = np.round(placed, 9).tolist()
    return rounded
