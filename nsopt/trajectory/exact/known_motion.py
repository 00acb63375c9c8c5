"""Known motions, of an optimum in steps or in phases, as guesses of the phases of another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nsopt.arrays import Array
from nsopt.result import Result
from nsopt.sampled import interpolate_columns
from nsopt.trajectory.guesses import Guess, Trajectory
from nsopt.trajectory.phases import SolvedPhases, name_gap, name_normal

INSIDE = 1e-9  # of a part's duration: so far within it its ends are read, as velocities jump there


@dataclass(frozen=True, eq=False)
class KnownMotion:
    """A known motion, with contact forces among its inputs."""

    t: Array  # (n,) [s]; where a time comes twice, the motion may jump
    q: Array  # (n, nq)
    v: Array  # (n, nv)
    a: Array  # (n, nv)
    inputs: Mapping[str, Array]  # (n,) each; forces have the names of phases, see `name_normal`

    @classmethod
    def of_steps(cls, result: Result) -> KnownMotion:
        """Return the motion of an optimum in steps, without the friction of contacts that stick."""
        data = result.data
        h = np.where(np.isfinite(data["h"].values), data["h"].values, 1.0)  # NaN at the start
        named = enumerate(data["input_name"].values)
        inputs = {str(name): data["input"].values[:, k] for k, name in named}
        lasting = np.nan_to_num(data["impulse"].values - data["impact_impulse"].values)
        for k, contact in enumerate(data["contact"].values):  # "name", or "name[gap]" of several
            name, _, number = str(contact).removesuffix("]").partition("[")
            gap = name_gap(name, int(number) if number else None)
            force = lasting[:, k] / h
            force[0] = force[1]  # no step ends at the first node
            inputs[name_normal(gap)] = force
        a = np.nan_to_num(data["acceleration"].values)
        return cls(data["time"].values, data["q"].values, data["v"].values, a, inputs)

    @classmethod
    def of_phases(cls, solved: SolvedPhases) -> KnownMotion:
        """Return a motion in phases, at nodes and midpoints; inputs are zero in other phases."""
        phases = enumerate(solved.linked.phases)
        parts = [(solved.trajectory(k), x.transcription.inputs) for k, x in phases]
        begins = zip(parts, solved.borders[:-1], strict=True)
        t = [begin + np.linspace(0, fine.duration, len(fine.q)) for (fine, _), begin in begins]
        all_names = dict.fromkeys(name for _, names in parts for name in names)
        inputs = {}
        for name in all_names:
            columns = [
                fine.inputs[:, names.index(name)] if name in names else np.zeros(len(fine.q))
                for fine, names in parts
            ]
            inputs[name] = np.concatenate(columns)
        q, v, a = (np.concatenate([x[k] for x, _ in parts]) for k in range(3))
        return cls(np.concatenate(t), q, v, a, inputs)

    @property
    def duration(self) -> float:
        """Time from its start to its end [s]."""
        return float(self.t[-1] - self.t[0])


@dataclass(frozen=True, eq=False)
class PartOfMotion(Guess):
    """A part of a known motion as the guess of a phase."""

    whole: KnownMotion
    begin: float  # [s] as ``whole.t``
    end: float

    def trajectory(
        self, share: Array, bounds: tuple[float, float], inputs: Sequence[str]
    ) -> Trajectory:
        del bounds
        x, inside = self.whole, INSIDE * (self.end - self.begin)
        times = np.clip(
            self.begin + share * (self.end - self.begin), self.begin + inside, self.end - inside
        )
        zero = np.zeros(len(x.t))
        u = np.column_stack([np.zeros((len(x.t), 0)), *(x.inputs.get(n, zero) for n in inputs)])
        q, v, a, u = (interpolate_columns(times, x.t, y) for y in (x.q, x.v, x.a, u))
        return Trajectory(q, v, a, u, self.end - self.begin)
