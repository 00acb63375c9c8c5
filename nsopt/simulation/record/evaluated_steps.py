"""The accepted steps of a run, and functions of the dynamics at their ends."""

from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.leaves import MappedLeaf
from nsopt.mechanics import Dynamics, Start
from nsopt.simulation.record.accepted_steps import AcceptedSteps


@lru_cache(maxsize=128)  # all runs of a sweep, or to compare, need the same functions
def _leaf(function: ca.Function) -> MappedLeaf:
    """Return a function with dense outputs, to be evaluated many times."""
    patterns = [function.sparsity_in(i) for i in range(function.n_in())]
    patterns += [function.sparsity_out(i) for i in range(function.n_out())]
    if function.is_a("SXFunction") and all(x.is_dense() for x in patterns):
        return MappedLeaf(function)
    inputs = [ca.SX.sym("x", *function.size_in(i)) for i in range(function.n_in())]
    outputs = [ca.densify(out) for out in function.call(inputs)]
    return MappedLeaf(ca.Function(function.name(), inputs, outputs))


def losses_of_forces(d: Dynamics, t: Array, q: Array, v: Array, p: Array) -> Array:
    """Return what forces dissipate at surfaces between times, (n - 1, ns) [J]; trapezoidal rule.

    Parameters
    ----------
    t, q, v, p : (n,), (n, nq), (n, nv), (np,)
    """
    (power,) = evaluate_at_times(d.pressed_loss, t, q, v, np.tile(p, (len(t), 1)), v)
    mean: Array = (power[1:] + power[:-1]) / 2
    return mean * np.diff(t)[:, None]


def evaluate_at_times(function: ca.Function, *arguments: Array) -> list[Array]:
    """Return outputs of an SX function at n times, (n, size), matrices by columns, as inputs."""
    return _leaf(function)(arguments)


class EvaluatedSteps:
    """A run, evaluated at all times at once.

    ``thinned`` tells whether steps were left out. ``at_nodes`` are parameters (n, np), inputs among
    them, and forces of drives (n, nv) [N, N m] at the nodes, where they change; ``contact_forces``
    are normal ones (n, ng) and friction (n, ns) [N] right after the nodes, where not only their
    means over steps are known; ``gains`` are `Scheme.gains`. t, q, v and the impulses lam (n, ng),
    mu (n, nm) are over all n times; what belongs to a step is in the row of its end, NaN in the
    first.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        start: Start,
        p: Array,
        steps: AcceptedSteps,
        thinned: bool = False,
        at_nodes: tuple[Array, Array] | None = None,
        gains: tuple[float, float] | None = None,
        contact_forces: tuple[Array, Array] | None = None,
    ) -> None:
        self.dynamics, self.p, self.steps = dynamics, p, steps
        self._gains, self._contact_forces = gains, contact_forces
        n = len(steps) + 1
        self._at_nodes = at_nodes or (np.tile(p, (n, 1)), np.zeros((n, dynamics.nv)))
        at_end = np.append(True, steps.at_end | thinned)
        self._by_start = np.flatnonzero(~at_end)  # ends of steps whose forces belong to their start
        self.t = np.append(start.t, steps.t)
        self.q, self.v = np.vstack([start.q, steps.q]), np.vstack([start.v, steps.v])
        self.h = self.column("h")
        self._found: dict[tuple[str, bool], Array] = {}
        self.lam, self.mu = self.column("impulse"), self.column("joint_impulse")  # of each step

    def column(self, name: str) -> Array:
        """Return a column of the steps over time, NaN at the start."""
        rows: Array = getattr(self.steps, name)
        return np.concatenate([np.full((1, *rows.shape[1:]), np.nan), rows])

    def evaluate(self, name: str, before: bool = False) -> Array:
        """Return a function of the dynamics at all times, or ``before``, at the starts of steps."""
        if (name, before) in self._found:
            return self._found[name, before]
        function: ca.Function = getattr(self.dynamics, name)
        known = {"t": self.t, "q": self.q, "v": self.v}
        arguments = [
            np.tile(self.p, (len(self.t), 1)) if n == "p" else known[n].reshape(len(self.t), -1)
            for n in function.name_in()
        ]
        if before:
            arguments = [np.vstack([a[:1], a[:-1]]) for a in arguments]
        self._found[name, before] = evaluate_at_times(function, *arguments)[0]
        return self._found[name, before]

    def evaluate_vectors(self, name: str, before: bool = False) -> Array:
        """Return a function whose value is (3, n) as (time, n, 3)."""
        values = self.evaluate(name, before)
        return values.reshape(len(self.t), -1, 3)

    def evaluate_directions(self, name: str) -> Array:
        """Return directions (time, n, 3) as each step takes them, at its start or its end."""
        directions = self.evaluate_vectors(name)
        if self._by_start.size:
            directions = directions.copy()
            directions[self._by_start] = self.evaluate_vectors(name, before=True)[self._by_start]
        return directions
