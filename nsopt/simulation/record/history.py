"""The steps of a run as they are accepted, and the Result they make: `History`.

Contacts are judged as steps arrive (`ContactJudge`); everything else is computed at the end, by
`Record`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.mechanics import Dynamics, Element, Force, Frame, Outline, Start, find_circles
from nsopt.parameter import constant, number
from nsopt.result import Result
from nsopt.simulation.record.accepted_steps import AcceptedSteps
from nsopt.simulation.record.contact_judge import ContactJudge
from nsopt.simulation.record.dataset import Record
from nsopt.simulation.record.output_times import OutputTimes
from nsopt.stored import VARIABLES
from nsopt.versions import version

if TYPE_CHECKING:
    import xarray as xr


@dataclass
class History:
    """Accepted steps of one run.

    Parameters
    ----------
    every : int
        Only every that many steps are kept, and the last one; work, losses, iterations, retries
        and solver time are the sums since the one kept before. Where steps are left out their
        starts are not known: directions of contact forces are then those at the end of the step for
        every scheme.
    gains : float, float [1/s], optional
        `Scheme.gains`, by which ideal joints are brought back.
    times : (n,), optional [s]
        Instead of steps, rows at these times are kept (`OutputTimes`).

    Attributes
    ----------
    kept : list of AcceptedSteps
    pending : AcceptedSteps or None
        Steps since the last kept one; where rows are at times, one row of their sums.
    count : int
        All steps so far.
    """

    dynamics: Dynamics
    start: Start
    p: Array
    every: int = 1
    gains: tuple[float, float] | None = None
    times: Array | None = None
    kept: list[AcceptedSteps] = field(default_factory=list)
    pending: AcceptedSteps | None = None
    count: int = 0

    def __post_init__(self) -> None:
        self._judge = ContactJudge(self.dynamics, self.p, self.gains)
        self._last: AcceptedSteps | None = None

    @property
    def keeps_all(self) -> bool:
        """Whether each step is kept as it is."""
        return self.every == 1 and self.times is None

    @property
    def end(self) -> Start:
        """The state at the end of all steps so far."""
        return self.start if self._last is None else self._last.end

    def add(self, accepted: AcceptedSteps, at_nodes: tuple[Array, Array] | None = None) -> None:
        """Append consecutive steps, their contacts judged; ``at_nodes`` as for `ContactJudge`."""
        if not len(accepted):
            return
        begin, before = self.end, self._last
        accepted = self._judge.judge(begin, before, accepted, at_nodes)
        self.count, self._last = self.count + len(accepted), accepted.at([-1])
        if self.times is not None:
            pending = self.pending or AcceptedSteps.empty(self.dynamics)
            output_times = OutputTimes(self.dynamics, self.times)
            rows, self.pending = output_times.interpolate(begin, pending, accepted)
            if len(rows):
                self.kept.append(rows)
            return
        if self.every == 1:
            self.kept.append(accepted)
            return
        steps = accepted if self.pending is None else AcceptedSteps.join([self.pending, accepted])
        whole = len(steps) // self.every * self.every
        if whole:
            self.kept.append(steps.at(slice(whole)).thin(self.every))
        self.pending = steps.at(slice(whole, None)) if whole < len(steps) else None

    def keep_after(self, blocks: int) -> AcceptedSteps:
        """Return the kept steps beyond the first ``blocks``; they are one block from then on."""
        new = self.kept[blocks:]
        if not new:
            return AcceptedSteps.empty(self.dynamics)
        self.kept[blocks:] = [AcceptedSteps.join(new)]
        return self.kept[-1]

    def restore(self, kept: AcceptedSteps, pending: AcceptedSteps, count: int) -> None:
        """Go on from another history of the same run."""
        self.kept, self.count = [kept] if len(kept) else [], count
        self.pending = pending if len(pending) else None
        if len(pending) or len(kept):
            self._last = (pending if len(pending) else kept).at([-1])

    def steps(self) -> AcceptedSteps:
        """Return the steps that are kept."""
        pending = None if self.times is not None else self.pending
        rest = [] if pending is None else [pending.thin(len(pending))]
        if not self.kept and not rest:
            return AcceptedSteps.empty(self.dynamics)
        self.kept = [AcceptedSteps.join(self.kept)] if self.kept else []
        return AcceptedSteps.join([*self.kept, *rest])

    def result(
        self,
        attrs: Mapping[str, Any],
        at_nodes: tuple[Array, Array] | None = None,
        wanted: Collection[str] = tuple(VARIABLES),
        lines: Sequence[Outline] = (),
        contact_forces: tuple[Array, Array] | None = None,
    ) -> Result:
        """Return the result of the run so far, with the variables ``wanted``; else as `Record`.

        ``lines`` are those of obstacles, drawn beside those of elements and bodies.
        """
        import xarray as xr

        table = self._evaluate(at_nodes, contact_forces)
        data = xr.Dataset(
            table.variables(wanted),
            coords=table.coordinates(),
            attrs={
                "gap_scales": self._sizes("gap_scale", "pressed_scale"),
                "clearances": self._sizes("clearance", "pressed_clearance"),
                "pressed": len(self.dynamics.pressed_names),
                **provenance(self.dynamics, self.p, lines),
                **table.redundant(),
                "internal_states": len(self.dynamics.internal_names),
                **find_caveat_attributes(self.dynamics),
                "steps": self.count,
                "left_out": json.dumps([name for name in VARIABLES if name not in wanted]),
                "store_every": self.every,
                "output_times": 0 if self.times is None else len(self.times),
                **attrs,
            },
        )
        data["time"].attrs["units"] = "s"
        return Result(data)

    def tabulate(self, wanted: Collection[str]) -> xr.Dataset:
        """Return the variables ``wanted`` alone: without labels, and what is known of the run."""
        import xarray as xr

        table = self._evaluate()
        # Labels and provenance of a short run take far longer than its variables.
        coords = {name: table.coordinates()[name] for name in ("time", "contact")}
        ideal = len(tuple(self.dynamics.mechanism.joints))
        return xr.Dataset(table.variables(wanted), coords, {"ideal_joints": ideal})

    def _evaluate(
        self,
        at_nodes: tuple[Array, Array] | None = None,
        contact_forces: tuple[Array, Array] | None = None,
    ) -> Record:
        thinned = self.every > 1 or self.times is not None
        known = self.dynamics, self.start, self.p, self.steps()
        return Record(*known, thinned, at_nodes, self.gains, contact_forces)

    def _sizes(self, *names: str) -> Array:
        """Return functions of the parameters one after another."""
        values = [np.asarray(getattr(self.dynamics, name)(self.p)).ravel() for name in names]
        return np.concatenate(values)


FOLLOWING = (
    *("velocity", "slope_rates", "bore_bends"),
    *("closure_bias", "gap_bias", "slip_bias", "nonholonomic_bias"),
    *("gap", "gap_matrix", "slope", "contact_normals"),
)
"""Functions of `Dynamics` that follow from others: an inverse, derivatives by the time, and parts
of ``contact_terms``. Some take long to make, and most runs need few of them."""


@lru_cache(maxsize=16)
def model_hash(dynamics: Dynamics) -> str:
    """Return a hash of a mechanism's functions, contact laws included, but for the `FOLLOWING`."""
    members = (getattr(dynamics, f.name) for f in fields(dynamics) if f.name not in FOLLOWING)
    functions = (f.serialize() for f in members if isinstance(f, ca.Function))
    return hashlib.sha256("".join(functions).encode()).hexdigest()[:16]


def provenance(dynamics: Dynamics, p: Array, lines: Sequence[Outline] = ()) -> dict[str, Any]:
    """Return the provenance of a result: versions, model, parameters, geometry for pictures."""
    values = {parameter.name: float(x) for parameter, x in zip(dynamics.parameters, p, strict=True)}
    mechanism, elements, gravity = dynamics.restated(p)
    members = (*mechanism.joints, *elements)
    bodies = [body.name for body in mechanism.bodies]

    def body_index(frame: Frame) -> int:
        return -1 if frame.body is None else bodies.index(frame.body.name)

    def place(line: Outline) -> dict[str, Any]:
        points = number(line.frame.origin) + line.points @ np.asarray(line.frame.axes).T
        return {"body": body_index(line.frame), "points": np.round(points, 9).tolist()}

    outline = [place(line) for member in members for line in member.outline()]
    outline += [place(line) | {"obstacle": True} for line in lines]
    outline += [
        {"body": b, "points": line, "shape": True}
        for b, body in enumerate(mechanism.bodies)
        for line in body.outline
    ]

    def frames_of(owners: list[Element]) -> str:
        frames = [
            {
                "element": member.name,
                "kind": getattr(member, "shape", type(member).__name__),
                "body": body_index(frame),
                "origin": number(frame.origin).tolist(),
                "x": np.asarray(frame.axes)[:, 0].tolist(),
                "z": np.asarray(frame.axes)[:, 2].tolist(),
                **({"link": link} if (link := getattr(member, "link", "")) else {}),
            }
            for member in owners
            for frame in member.frames
        ]
        return json.dumps(frames)

    return {
        "nsopt_version": version("nsopt"),
        "casadi_version": version("casadi"),
        "numpy_version": np.__version__,
        "model_hash": model_hash(dynamics),
        "parameters": json.dumps(values),
        "gravity": number(gravity),
        "outline": json.dumps(outline),
        "plot_data": json.dumps({e.name: e.plot_data() for e in elements if isinstance(e, Force)}),
        "frames": frames_of([x for x in members if not isinstance(x, Force)]),
        "pressed_frames": frames_of([x for x in members if x.name in dynamics.pressed_owners]),
        "ideal_joints": len(tuple(mechanism.joints)),
        "generalized_coordinates": "relative" if mechanism.is_relative else "absolute",
    }


@lru_cache(maxsize=16)
def find_caveat_attributes(d: Dynamics) -> dict[str, Any]:
    """Return the attributes that `nsopt.caveats` need of a mechanism.

    Whether contacts, friction or forces may take energy, and whether anything but rigid contacts
    may; bodies that ideal joints turn about points off their centres, whose phase is off.
    """
    by_forces = forces_dissipate(d)
    return {
        "dissipates": int(by_forces or bool(d.contact_names)),
        "forces_dissipate": int(by_forces),
        "phase_bodies": json.dumps(_list_turned_by_joints(d)),
    }


def forces_dissipate(d: Dynamics) -> bool:
    """Return whether anything but rigid contacts may take energy."""
    sizes = {"t": 1, "q": d.nq, "v": d.nv, "p": len(d.parameters)}
    t, q, v, p = (ca.SX.sym(name, size) for name, size in sizes.items())
    surfaces = d.pressed_names or d.friction_joints
    return bool(surfaces) or bool(ca.depends_on(d.applied(t, q, v, p), v))


def _list_turned_by_joints(d: Dynamics) -> list[str]:
    """Return bodies that ideal joints hold off their centres, unless nothing is free to move.

    Those that go along circles of the ground are left out.
    """
    rows = len(d.closure_names) - d.redundant + len(d.nonholonomic_names)
    if rows >= d.nv:
        return []
    frames = [frame for joint in d.mechanism.joints for frame in joint.frames]
    held = {x.body.name for x in frames if x.body is not None and np.any(number(x.origin))}
    # Steps know the circles of bodies on hinges of the ground, whose phase is right.
    return sorted(held - find_circles(d.mechanism.joints, constant).keys())
