"""What phases cannot state of a motion in steps: it is refused by a `NotExactError`.

Costs and conditions are called with a sample of a phase (`SampleInModes`) that notes what they read
of contacts, and refuses what phases do not have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import groupby

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.contact_modes import joint_of
from nsopt.elements import ViscousLaw
from nsopt.mechanics import Dynamics, JointFriction
from nsopt.trajectory.conditions import (
    Apart,
    Condition,
    During,
    FrictionMargin,
    Periodic,
    Span,
    Touching,
)
from nsopt.trajectory.costs import ContactForce, Cost
from nsopt.trajectory.exact.recognize import NotExactError
from nsopt.trajectory.node_sample import NodeSample
from nsopt.trajectory.phases import ModeForces, find_constraint_forces, sample_symbols
from nsopt.trajectory.search import StatedProgram
from nsopt.trajectory.smoothing.dry_friction import find_rubbing_joints
from nsopt.trajectory.transcription.base import Transcription

FAULTS = (ValueError, TypeError, RuntimeError, LookupError, AttributeError, ArithmeticError)
"""What a user's cost or condition may raise where a sample has no contacts."""


def is_about_modes(x: Condition) -> bool:
    """Return whether a condition only says which contacts touch."""
    return isinstance(x.condition if isinstance(x, During) else x, Touching | Apart)


def find_margin(x: Condition) -> FrictionMargin | None:
    """Return the margin of friction that a condition is, all along or for a part; None if none."""
    inner = x.condition if isinstance(x, During) else x
    return inner if isinstance(inner, FrictionMargin) else None


class _ContactsNeededError(Exception):
    """A cost or condition reads what phases do not have of contacts; the text says what."""


class SampleInModes(NodeSample):
    """A phase as costs and conditions see it that are stated of the mechanism with its contacts.

    Forces of contacts are those of their modes. What phases do not have is refused: impulses,
    losses, and resistances and reactions of contacts.

    Attributes
    ----------
    reads_contacts, reads_forces : bool
        Whether anything of contacts or of cut joints was read so far, and whether forces of
        contacts were.
    """

    def __init__(self, m: NodeSample, stated: Dynamics) -> None:
        p = [m.input(x.name) for x in stated.parameters]  # without the forces of contacts
        super().__init__(stated, m.t, m.q, m.v, m.a, ca.vertcat(ca.SX(0, 1), *p))
        self._in_modes, self.reads_contacts, self.reads_forces = m, False, False

    def _refuse(self) -> ca.SX:
        raise _ContactsNeededError("impulses or losses of contacts, which phases do not have")

    impulse = loss = property(_refuse)

    @cached_property
    def drive(self) -> ca.SX:
        return self._in_modes.drive

    @cached_property
    def required_forces(self) -> ca.SX:
        return self._in_modes.required_forces

    @property
    def gap(self) -> ca.SX:
        self.reads_contacts = True
        return self.dynamics.gap(self.t, self.q, self.p)

    @property
    def contact_force(self) -> ca.SX:
        self.reads_contacts = self.reads_forces = True
        forces = {x.name: x for x in self._in_modes.dynamics.elements if isinstance(x, ModeForces)}
        found = [ca.SX(0, 1)]
        for contact, gaps in groupby(map(joint_of, self.dynamics.contact_names)):
            normal = [self._in_modes.input(x.name) for x in forces[contact].normal]
            found += normal or [ca.SX.zeros(len(list(gaps)))]
        return ca.vertcat(*found)

    def reaction(self, joint: str) -> ca.SX:
        self._check_joint(joint)
        d, constraints = self.dynamics, find_constraint_forces(self._in_modes.dynamics)
        if d.redundant:
            raise _ContactsNeededError(
                f"the reaction of {joint!r} in loops that are over-constrained, which phases leave "
                "undetermined"
            )
        if constraints is None or joint not in d.multiplier_names:
            return self._in_modes.reaction(joint)
        self.reads_contacts = True  # of a joint that phases do not have
        mu = ca.DM(constraints.rows).T @ ca.vertcat(*map(self._in_modes.input, constraints.inputs))
        none = ca.SX.zeros(len(d.contact_names)), ca.SX.zeros(len(d.slip_contacts))
        at = self.t, self.q, self.v, self.p, 1, self.a
        return d.reactions(*at, mu, *none)[:, d.joint_names.index(joint)]

    def resistance(self, joint: str) -> ca.SX:
        if joint in self._without_resistance:
            return ca.SX.zeros(6)
        self._check_joint(joint)
        return self._in_modes.resistance(joint)

    @cached_property
    def _without_resistance(self) -> set[str]:
        """The contacts that no damping, friction or range of motion resists in."""
        d, f = self.dynamics, self.dynamics.smoothed_resistance
        at = [ca.SX.sym(f.name_in(k), f.sparsity_in(k)) for k in range(f.n_in())]
        columns = zip(d.joint_names, ca.horzsplit(f.call(at)[0]), strict=True)
        contacts = {x.name for x in d.contacts}
        return {name for name, wrench in columns if name in contacts and wrench.is_zero()}

    def _check_joint(self, joint: str) -> None:
        if joint in {x.name for x in self.dynamics.contacts}:
            raise _ContactsNeededError(
                f"the forces of {joint!r}, a contact, which phases do not have"
            )


def check_parts(program: StatedProgram, costs: Sequence[Cost], contactless: Dynamics) -> bool:
    """Return whether costs or conditions count forces of contacts.

    Raises NotExactError for those that cannot be divided among phases.
    """
    x, conditions = program.transcription, program.statement.conditions
    has_free_steps = x.horizon.h is not None or len(x.horizon.breaks) > 0
    m = SampleInModes(sample_symbols(contactless), x.dynamics)
    of_costs = list[ca.SX]()
    for cost in costs:
        if type(cost).impact is not Cost.impact:
            raise NotExactError(f"{type(cost).__name__} is of impacts in steps")
        if isinstance(cost, ContactForce) and cost.power <= 1:
            raise NotExactError("ContactForce to a power of 1 or less counts impulses of impacts")
        with _naming_what_is_missing(cost):
            of_costs += [ca.SX(cost.rate(m)), ca.SX(cost.final(m))]
    spans = list[Span]()
    for condition in conditions:
        if is_about_modes(condition):
            _check_span_of_mode(condition, has_free_steps)
        else:
            with _naming_what_is_missing(condition):
                spans += _find_spans(condition, m)
    if spans and has_free_steps:  # shares of the steps are not those of the duration
        raise NotExactError(
            "conditions hold for a part of the steps, which have sizes of their own"
        )
    if any(ca.depends_on(value, m.t) for value in (*of_costs, m.drive)):
        raise NotExactError("forces or costs depend on time, phases have times of their own")
    return m.reads_forces


def reads_contacts(x: Cost | Condition, contactless: Dynamics, stated: Dynamics) -> bool:
    """Return whether a cost or condition is of contacts or of cut joints."""
    m = SampleInModes(sample_symbols(contactless), stated)
    if isinstance(x, Cost):
        x.rate(m), x.final(m)
    else:
        x.start(m), x.along(m), x.end(m), x.during(m)
    return m.reads_contacts


@contextmanager
def _naming_what_is_missing(x: Cost | Condition) -> Iterator[None]:
    """Say which cost or condition needs what phases do not have, whatever error that gives."""
    name = type(x).__name__
    try:
        yield
    except NotExactError:
        raise
    except _ContactsNeededError as error:
        raise NotExactError(f"{name} needs {error}") from None
    except FAULTS as error:
        raise NotExactError(f"{name} is not of phases: {error}") from None


def _check_span_of_mode(x: Condition, has_free_steps: bool) -> None:
    """Raise NotExactError where a contact is to touch, or not to, for a part of the motion.

    At one node, with steps of free sizes, it is to touch at any time: that phases can keep.
    """
    if not isinstance(x, During):
        return
    is_node = x.last is None or x.last == x.first
    if not (has_free_steps and is_node and 0 < x.first < 1 and isinstance(x.condition, Touching)):
        mode = type(x.condition).__name__
        raise NotExactError(f"During({mode}) is of a part of the steps, not of the duration")


def _find_spans(x: Condition, m: NodeSample) -> list[Span]:
    """Return the spans of a condition; NotExactError for one that no single phase can keep."""
    name, spans = type(x).__name__, x.during(m)
    if find_margin(x) and any(y.first == y.last for y in spans):
        raise NotExactError("During(FrictionMargin) is of one node, phases keep it throughout")
    if x.couple(m, m) and not isinstance(x, Periodic):
        raise NotExactError(f"{name} couples start and end of the motion")
    x.start(m)  # refuses what is of contacts
    bounds = [*x.along(m), *x.end(m), *(b for y in spans for b in y.bounds)]
    if any(ca.depends_on(ca.SX(b.value), m.t) for b in bounds):
        raise NotExactError(f"{name} depends on time, phases have times of their own")
    return spans


def check_laws(x: Transcription, p: Array) -> None:
    """Raise NotExactError for laws of impact and friction that phases do not have."""
    if not x.rebounds_by_newton and np.any(np.asarray(x.dynamics.restitution(p)) > 0):
        raise NotExactError("contacts rebound by another law than Newton's")
    d = x.dynamics
    joints, rubbing = [d.joint_names[k] for k in d.friction_joints], find_rubbing_joints(d)
    elements = [y for y in d.elements if isinstance(y, JointFriction)]
    for element, joint in zip(elements, joints, strict=True):
        if isinstance(getattr(element, "law", None), ViscousLaw):
            continue
        if joint not in rubbing:
            raise NotExactError(
                f"dry friction of joints, {element.name!r}, turns round within steps, as {joint!r} "
                "has no drive"
            )
        if d.nq != d.nv:
            raise NotExactError(
                f"dry friction of joints, {element.name!r}, beside bodies or ball joints that turn"
            )
