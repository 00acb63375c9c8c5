"""The sequence of contact modes that an optimum in steps has: `Recognizer`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.contact_modes import FREE, joint_of
from nsopt.mechanics import Contact, Dynamics
from nsopt.result import Result
from nsopt.trajectory.exact.sequence import ContactPhase, join_alike
from nsopt.trajectory.phases import ContactMode, Open, Sliding, Sticking, sample_symbols
from nsopt.trajectory.smoothing.dry_friction import find_rubbing_joints

LEAST_STEPS = 2  # that a mode must last: a shorter one, between two others, comes from the grid
SLIDING = 0.99  # of mu times the normal force: a contact with more friction slides, else it sticks
CLOSED = 1e-3  # of its largest gap: a contact with less is closed
RESTING = 2e-2  # of its largest speed: a joint with less rests, as dry friction lets it creep
PRESSING = 1e-6  # of its largest force: a contact with more presses


class NotExactError(ValueError):
    """A motion has no sequence of contact, or one that phases cannot state; the text says why."""


@dataclass(frozen=True, eq=False)
class Recognizer:
    """Reads a sequence of contact off an optimum in steps."""

    dynamics: Dynamics  # with its contacts
    result: Result
    p: Array  # (np,) of the mechanism
    borders: Sequence[float] = ()  # shares of the steps at which phases must end, as conditions do
    touching: Collection[str] = ()  # names of contacts that a condition keeps closed

    def read_sequence(self, *, briefest: bool = False) -> tuple[ContactPhase, ...]:
        """Return the sequence.

        With the ``briefest``, modes that last a single step count too, and contacts that close at
        the last node. A NotExactError refuses a contact of which some gaps are closed and others
        open, and several contacts that slide in space.
        """
        t, contacts = self.result["time"].values, self.dynamics.contacts
        read = {x.name: self._read_modes(x) for x in contacts}
        self._refuse_several_in_space({name: modes for name, (modes, _) in read.items()})
        # The modes of all contacts in each step.
        of_joints = {x: self._read_joint(x) for x in find_rubbing_joints(self.dynamics)}
        steps = [
            {
                **{name: modes[k] for name, (modes, _) in read.items()},
                **{name: modes[k] for name, modes in of_joints.items()},
            }
            for k in range(len(t) - 1)
        ]
        is_open = {x.name: self._find_open(x) for x in contacts}
        closing = {x for x in range(1, len(steps)) if _closes_within(steps, is_open, x)}
        for name, at_nodes in is_open.items() if briefest else ():
            for k in np.flatnonzero(at_nodes[:-1]).tolist():  # it closes at the end of the step
                steps[k][name] = Open()
        strikes: dict[int, dict[str, ContactMode]] = {k: {} for k in range(len(t))}
        for name, (_, struck) in read.items():
            for k, mode in struck.items():
                strikes[k][name] = mode
        given = {round(share * len(steps)): share for share in self.borders}  # node -> share
        phases = []
        for first, last in _divide_steps(steps, strikes, given, 1 if briefest else LEAST_STEPS):
            begin, end = (
                k + (not briefest and k in closing and k not in given) for k in (first, last)
            )
            duration = float(t[end] - t[begin])
            modes = max(steps[first:last], key=steps[first:last].count)  # those of most steps
            rebounds = {x: mode for x, mode in strikes[first].items() if not modes[x].closed}
            phases.append(ContactPhase(modes, duration, rebounds, given.get(last)))
        landed = {
            x.name: Sticking() if self._compute_slip(x).size else Sliding()
            for x in contacts
            if briefest and not is_open[x.name][-1] and not phases[-1].modes[x.name].closed
        }
        if landed:
            phases.append(ContactPhase({**phases[-1].modes, **landed}, float(t[-1] - t[-2])))
        return join_alike(phases)

    def _refuse_several_in_space(self, modes: Mapping[str, Sequence[ContactMode]]) -> None:
        """Raise NotExactError where several contacts slide in space, such as feet.

        In steps their friction is at its limit where they hardly slip, so that what each does is
        not known, and motions with all of them sliding are hardly ever found.
        """
        in_space = [x.name for x in self.dynamics.contacts if self._compute_slip(x).shape[1] > 1]
        sliding = [x for x in in_space if any(isinstance(y, Sliding) for y in modes[x])]
        if len(sliding) > 1:
            raise NotExactError(
                f"contacts {', '.join(sliding)} slide in two directions each: give their sequence, "
                "ExactContacts(sequence=[...]), if it is known"
            )

    def _read_joint(self, joint: str) -> list[ContactMode]:
        """Return the mode of a joint with dry friction in each step: slow enough, it rests."""
        v = self.result["v"].values[:, self.dynamics.v_owners.index(joint)]
        mean, slow = (v[1:] + v[:-1]) / 2, RESTING * np.abs(v).max()
        return [Sticking() if abs(x) <= slow else Sliding(forwards=bool(x > 0)) for x in mean]

    def _find_open(self, x: Contact) -> NDArray[np.bool_]:
        """Return at which nodes a contact is open, (n + 1,)."""
        gap = np.abs(self.result.data["gap"].values[:, self._find_gaps(x)]).max(axis=1)
        return np.asarray(gap > CLOSED * gap.max())

    def _read_modes(self, x: Contact) -> tuple[list[ContactMode], dict[int, ContactMode]]:
        """Return the mode of a contact in each step, and its mode at nodes where it strikes."""
        closed, slip = self._find_contact_steps(x), self._compute_slip(x)
        slides = self._find_sliding(x)
        in_steps = (slip[1:] + slip[:-1]) / 2

        def choose_closed_mode(k: int) -> ContactMode:
            if not slip.size:
                return Sliding()  # without friction
            if not slides[k]:
                return Sticking()
            if slip.shape[1] > 1:
                return Sliding()  # in space, where it has a direction of its own
            return Sliding(forwards=bool(in_steps[k, 0] > 0))

        modes, strikes = list[ContactMode](), dict[int, ContactMode]()
        first = 0
        for is_closed, group in groupby(closed):
            n = len(list(group))
            begins_open = first > 0 or bool(self._find_open(x)[0])
            is_inner = begins_open and first + n < len(closed)
            if is_closed and is_inner and n <= LEAST_STEPS:  # an impact, after which it is open
                strikes[first + 1] = choose_closed_mode(first)
                is_closed = False
            modes += [
                choose_closed_mode(k) if is_closed else Open() for k in range(first, first + n)
            ]
            first += n
        return modes, strikes

    def _find_gaps(self, x: Contact) -> list[int]:
        """Return the numbers of the gaps of a contact."""
        names = map(str, self.result.data["contact"].values)
        return [k for k, name in enumerate(names) if x.name in (name, joint_of(name))]

    def _find_sliding(self, x: Contact) -> NDArray[np.bool_]:
        """Return in which steps the friction of a contact is at its limit, (n,)."""
        data, own = self.result.data, self._find_gaps(x)
        force = data["contact_force"].values[1:, own].sum(axis=1)
        normal = (data["impulse"].values[1:, own] / data["h"].values[1:, None]).sum(axis=1)
        friction = np.sqrt(np.maximum(np.sum(force**2, axis=1) - normal**2, 0.0))
        mu = float(np.asarray(self.dynamics.friction(self.p)).ravel()[own[0]])
        presses = normal > PRESSING * normal.max(initial=0.0)
        return np.asarray(presses & (friction >= SLIDING * mu * normal))

    def _find_contact_steps(self, x: Contact) -> list[bool]:
        """Return in which steps a contact is closed, (n,); all of its gaps must be."""
        data, own = self.result.data, self._find_gaps(x)
        closed = data["contact_mode"].values[1:, own] != FREE
        closed |= x.name in self.touching
        differ = closed.any(axis=1) & ~closed.all(axis=1)
        if differ.sum() >= LEAST_STEPS:
            raise NotExactError(f"gaps of contact {x.name!r} close apart from each other")
        return list(closed.any(axis=1).tolist())

    def _compute_slip(self, x: Contact) -> Array:
        """Return the slip of a contact at each node, (n + 1, k) [m/s], of its first gap."""
        m = sample_symbols(self.dynamics)
        slip = ca.densify(x.gaps(m.state)[0].slip)
        f = ca.Function("slip", [m.t, m.q, m.v, m.p], [slip])
        data = self.result.data
        n = data.sizes["time"]
        given = (data["time"].values[None], data["q"].values.T, data["v"].values.T)
        values = f.map(n)(*given, np.tile(self.p[:, None], n))
        return np.asarray(values).T.reshape(n, slip.numel())


def _closes_within(
    steps: Sequence[Mapping[str, ContactMode]], is_open: Mapping[str, NDArray[np.bool_]], k: int
) -> bool:
    """Return whether a contact closes within step k, so at its end, and stays closed for longer."""
    return any(
        all(x[name].closed for x in steps[k : k + LEAST_STEPS + 1])
        and not steps[k - 1][name].closed
        and bool(at_nodes[k])
        for name, at_nodes in is_open.items()
    )


def _divide_steps(
    steps: list[dict[str, ContactMode]],
    strikes: dict[int, dict[str, ContactMode]],
    given: Collection[int],
    least: int,
) -> Iterator[tuple[int, int]]:
    """Yield first and last node of each phase; runs of less than ``least`` steps join neighbours.

    ``steps`` are the modes of all contacts in each step, ``strikes`` those of contacts that strike
    at each node, ``given`` the nodes at which phases must end.
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
