"""The sequence of contact that an optimum in steps has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.contact_modes import FREE, joint_of
from nsopt.mechanics import Contact, Dynamics
from nsopt.result import Result
from nsopt.trajectory.exact.sequence import ContactPhase, join_alike
from nsopt.trajectory.phases import ContactMode, Open, Sliding, Sticking, sample

Array = NDArray[np.float64]

SHORT = 2
"""Steps that a mode must last: what is shorter a grid leaves at the border of two others."""

ON_CONE = 0.99
"""Of the friction that a contact can give, that from which it slides: less of it holds."""

NEAR = 1e-3
"""Of its largest gap, that up to which a contact is closed."""

PRESSES = 1e-6
"""Of its largest force, that from which a contact presses."""


class NotExactError(ValueError):
    """A motion that has no sequence of contact, or none that phases know; its text says why."""


@dataclass(frozen=True, eq=False)
class Recognizer:
    """Reads a sequence of contact off an optimum in steps.

    Parameters
    ----------
    dynamics : Dynamics
    result : Result
        The optimum.
    p : (np,)
        Parameters of the mechanism.
    borders : sequence of float
        Shares of the number of steps where conditions begin or end.
    touching : collection of str
        Contacts that a condition keeps closed, also where they do not press.
    """

    dynamics: Dynamics
    result: Result
    p: Array
    borders: Sequence[float] = ()
    touching: Collection[str] = ()

    def sequence(self, *, briefest: bool = False) -> tuple[ContactPhase, ...]:
        """Return the sequence.

        Parameters
        ----------
        briefest : bool
            Whether modes of a step alone count, and contacts that close at the last node.

        Raises
        ------
        NotExactError
            If gaps of one contact close apart from each other, or one slides in two directions.
        """
        t = self.result["time"].values
        found = {x.name: self._modes_of(x) for x in self.dynamics.contacts}
        steps = [{name: modes[k] for name, (modes, _) in found.items()} for k in range(len(t) - 1)]
        apart = {x.name: self._apart(x) for x in self.dynamics.contacts if briefest}
        for name, gaps in apart.items():  # a step that begins apart closes at its end
            for k in np.flatnonzero(gaps[:-1]).tolist():
                steps[k][name] = Open()
        strikes: dict[int, dict[str, ContactMode]] = {k: {} for k in range(len(t))}
        for name, (_, struck) in found.items():
            for k, mode in struck.items():
                strikes[k][name] = mode
        given = {round(share * len(steps)): share for share in self.borders}
        phases = []
        for first, last in _runs(steps, strikes, given, 1 if briefest else SHORT):
            span = float(t[last] - t[first])
            most = max(steps[first:last], key=steps[first:last].count)
            rebounds = {x: mode for x, mode in strikes[first].items() if not most[x].closed}
            phases.append(ContactPhase(most, span, rebounds, given.get(last)))
        landed = {
            x.name: Sticking() if self._slip(x).size else Sliding()
            for x in self.dynamics.contacts
            if briefest and not apart[x.name][-1] and not phases[-1].modes[x.name].closed
        }
        if landed:
            phases.append(ContactPhase({**phases[-1].modes, **landed}, float(t[-1] - t[-2])))
        return join_alike(phases)

    def _apart(self, x: Contact) -> NDArray[np.bool_]:
        """Return at which nodes a contact is open, (n + 1,)."""
        gap = np.abs(self.result.data["gap"].values[:, self._gaps(x)]).max(axis=1)
        found: NDArray[np.bool_] = gap > NEAR * gap.max()
        return found

    def _modes_of(self, x: Contact) -> tuple[list[ContactMode], dict[int, ContactMode]]:
        """Return the mode of a contact in each step, and at which nodes it strikes, and how."""
        closed, slip, slides = self._find_contact_steps(x), self._slip(x), self._slides(x)
        in_steps = (slip[1:] + slip[:-1]) / 2

        def mode(k: int) -> ContactMode:
            if not slip.size:
                return Sliding()  # without friction
            if not slides[k]:
                return Sticking()
            if slip.shape[1] > 1:
                raise NotExactError(f"contact {x.name!r} slides in two directions")
            return Sliding(forwards=bool(in_steps[k, 0] > 0))

        modes, struck = list[ContactMode](), dict[int, ContactMode]()
        at = 0
        for shut, group in groupby(closed):
            n = len(list(group))
            inner = at > 0 and at + n < len(closed)
            if shut and inner and n <= SHORT:
                struck[at + 1] = mode(at)
                shut = False
            modes += [mode(k) if shut else Open() for k in range(at, at + n)]
            at += n
        return modes, struck

    def _gaps(self, x: Contact) -> list[int]:
        """Return the numbers of the gaps of a contact."""
        names = map(str, self.result.data["contact"].values)
        return [k for k, name in enumerate(names) if x.name in (name, joint_of(name))]

    def _slides(self, x: Contact) -> NDArray[np.bool_]:
        """Return in which steps the friction of a contact is on its cone."""
        data, own = self.result.data, self._gaps(x)
        force = data["contact_force"].values[1:, own].sum(axis=1)
        normal = (data["impulse"].values[1:, own] / data["h"].values[1:, None]).sum(axis=1)
        friction = np.sqrt(np.maximum(np.sum(force**2, axis=1) - normal**2, 0.0))
        mu = float(np.asarray(self.dynamics.friction(self.p)).ravel()[own[0]])
        presses = normal > PRESSES * normal.max(initial=0.0)
        slides: NDArray[np.bool_] = presses & (friction >= ON_CONE * mu * normal)
        return slides

    def _find_contact_steps(self, x: Contact) -> list[bool]:
        """Return in which steps a contact is closed, all of its gaps being alike."""
        data, own = self.result.data, self._gaps(x)
        closed = data["contact_mode"].values[1:, own] != FREE
        closed |= x.name in self.touching
        apart = closed.any(axis=1) & ~closed.all(axis=1)
        if apart.sum() >= SHORT:
            raise NotExactError(f"gaps of contact {x.name!r} close apart from each other")
        found: list[bool] = closed.any(axis=1).tolist()
        return found

    def _slip(self, x: Contact) -> Array:
        """Return the slip of a contact at each node, (n + 1, k) [m/s], of its first gap."""
        m = sample(self.dynamics)
        slip = ca.densify(x.gaps(m.state)[0].slip)
        f = ca.Function("slip", [m.t, m.q, m.v, m.p], [slip])
        data = self.result.data
        n = data.sizes["time"]
        given = (data["time"].values[None], data["q"].values.T, data["v"].values.T)
        values = f.map(n)(*given, np.tile(self.p[:, None], n))
        return np.asarray(values).T.reshape(n, slip.numel())


def _runs(
    steps: list[dict[str, ContactMode]],
    strikes: dict[int, dict[str, ContactMode]],
    given: Collection[int],
    least: int,
) -> Iterator[tuple[int, int]]:
    """Yield first and last node of what lasts, what is shorter left to what is beside it.

    Parameters
    ----------
    steps : list
        Modes of all contacts in each step.
    strikes : mapping
        At nodes.
    given : nodes
        Borders whose times are given.
    least : int
        Steps.
    """
    n = len(steps)
    fixed = {0, n, *given, *(k for k, struck in strikes.items() if struck)}
    changes = {k for k in range(1, n) if steps[k] != steps[k - 1]}
    borders = sorted(fixed | changes)
    kept = [0]
    for border, following in pairwise(borders[1:]):
        if border in fixed or min(border - kept[-1], following - border) >= least:
            kept.append(border)
    yield from pairwise([*kept, n])
