"""The contract of a time-stepping scheme; the recipe for a new one is in CONTRIBUTING.md."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.elements import ViscousLaw
from nsopt.mechanics import Drag, Dynamics, JointFriction
from nsopt.mpcc import Mpcc
from nsopt.schemes.errors import Errors, estimate_first_order_errors
from nsopt.schemes.node import StepStart
from nsopt.schemes.one_step import HorizonStep, OneStep, SimulatedStep
from nsopt.schemes.scales import Scales
from nsopt.schemes.step import Interval, Step, Transition

MOST_NAMED = 3  # elements that a message names


class Scheme(ABC):
    """Step equations, for simulations and for whole horizons.

    Where both are the same it is a `UnifiedScheme`.

    Attributes
    ----------
    forces_at_end : bool
        Whether directions of contact impulses are those at the end of the step; else they belong
        to the gradients of the gap functions at its start.
    ends_early : bool
        Whether a step may end at an event before the h that it is given.
    order : int
        Of convergence, in free motion and lasting contact.
    horizon_at_end : bool
        The same as ``forces_at_end``, of the steps of `add_interval`.
    holds_inputs : bool
        Whether inputs and drives are constant over a step there; else they act at nodes.
    creeps : bool
        Whether contacts that stick on a wall that turns creep along it, in proportion to h.
    takes_contacts : bool
        Whether mechanisms may have contacts.
    takes_rate_constraints : bool
        Whether mechanisms may have constraints on velocities.
    takes_joint_friction : bool
        Whether it takes the friction of `JointFriction` elements.
    takes_static_friction : bool
        Whether its contacts hold up to their static friction, and let go in time.
    """

    forces_at_end: ClassVar[bool] = True
    ends_early: ClassVar[bool] = False
    order: ClassVar[int] = 2
    horizon_at_end: ClassVar[bool] = False
    holds_inputs: ClassVar[bool] = False
    creeps: ClassVar[bool] = False
    takes_contacts: ClassVar[bool] = True
    takes_rate_constraints: ClassVar[bool] = False
    takes_joint_friction: ClassVar[bool] = False
    takes_static_friction: ClassVar[bool] = False

    @property
    def chooses_h(self) -> bool:
        """Whether the step program itself finds h, a variable then.

        Else, the default, h is a parameter that a `StepControl` sets, and the programs are square,
        without objective, so that `Newton` solves them too.
        """
        return False

    @property
    def error_order(self) -> int:
        """Order p by which a step control takes `Step.local_error` to fall, as h^(p + 1)."""
        return self.order

    @property
    def gains(self) -> tuple[float, float] | None:
        """Baumgarte's alpha and beta [1/s], by which it brings ideal joints back to closure.

        None, the default, of a scheme that keeps them closed. Such a scheme refuses a start where
        they are open; one that has gains only warns.
        """
        return None

    @property
    def normal_implicitness(self) -> float:
        """Share of a step of a horizon at which the normals in bores are taken: 0 start, 1 end.

        The normals are those at the eccentricity u_n + share (u_n+1 - u_n). At 0, the default, a
        bushing of mass m that is pressed by a force F swings in its clearance c at the frequency
        sqrt(F / (m c)); where steps are longer than its period, it rattles from step to step. From
        1/2 on that is damped: solves are shorter, torques smooth. The price is a spurious friction,
        whose coefficient is ``normal_implicitness`` times the angle by which the eccentricity turns
        in a step; its moment is that times F and c. Contact forces on record are those that act,
        with it; reactions of joints take the eccentricities at the start.
        """
        return 0.0

    @property
    def slip_creep(self) -> float:
        """Slip speed [m/s] below which dry friction of contacts is smoothed over a horizon.

        Friction reaches 1/sqrt(2) of its full size there, in the plane and in space. Where slip
        turns round, derivatives see how the time of that moves only if friction takes several steps
        to do so: slip_creep must be of the order of the change of the slip in a step. It falls with
        h, and with it the error, of first order. Contacts that are held by a part s of the largest
        friction slide at slip_creep s / sqrt(1 - s^2): how far is on record (``held_slip``), and a
        warning tells where that is much.
        """
        return 0.0

    @property
    def allows_penetration(self) -> bool:
        """Whether contacts stop at the velocity level alone, so that bodies end inside of walls."""
        return False

    @property
    def fallback(self) -> Scheme | None:
        """The scheme that takes a step where this one has no solution; none by default."""
        return None

    def is_like(self, other: Scheme) -> bool:
        """Return whether another scheme differs in its numbers or its law of impact alone."""
        return type(other) is type(self)

    def check(self, dynamics: Dynamics, p: Array) -> None:
        """Refuse what the scheme does not take: contacts, constraints on velocities, friction.

        Raises
        ------
        ValueError
            Naming what it cannot, and a scheme that can.
        """
        if dynamics.contact_names and not self.takes_contacts:
            raise ValueError(
                f"{type(self).__name__} is for mechanisms without contact, but this one has "
                f"{dynamics.contact_names[0]!r}: use Variational or ContactAligned"
            )
        if dynamics.nonholonomic_names and not self.takes_rate_constraints:
            raise ValueError(
                f"{type(self).__name__} knows no constraints on velocities, but this mechanism has "
                f"{dynamics.nonholonomic_names[0]!r}: use Variational or MoreauJean"
            )
        if dynamics.friction_joints and not self.takes_joint_friction:
            joint = dynamics.joint_names[dynamics.friction_joints[0]]
            raise ValueError(
                f"{type(self).__name__} knows no friction that depends on reactions or has "
                f"internal states, but {joint!r} has: use Variational or MoreauJean"
            )
        name = _find_contact(dynamics, lambda drag: drag.has_static)
        if name and not self.takes_static_friction:
            raise ValueError(
                f"{type(self).__name__} knows no static friction above the kinetic one, but "
                f"contact {name!r} has it: simulate by Variational, or leave out static_friction"
            )
        law = getattr(self, "impact", None)
        if law is None or not law.takes_compression:
            _refuse_compression(dynamics, p, self if law is None else law)

    def add_modes(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> StepStart:
        """State what is solved before `add_step`, if anything; return the start with modes."""
        del mpcc, dynamics, h, scales
        return start

    @abstractmethod
    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        """State the equations of one step on ``mpcc``.

        Parameters
        ----------
        mpcc : Mpcc
            Receives variables, equations, complementarity and objective.
        dynamics : Dynamics
        start : StepStart
        h : SX scalar [s]
            The step size: a variable of ``mpcc``, or a parameter.
        scales : Scales
        """

    def add_projection(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, scales: Scales, step: Step
    ) -> Step:
        """State what is solved after `add_step`, with its solution known; return the whole step.

        The velocity after the move, an impact at its end; nothing by default. ``step`` is what
        `add_step` returned; its unknowns are parameters here.
        """
        del mpcc, dynamics, start, scales
        return step

    def gain_remedy(self, dynamics: Dynamics, p: Array) -> str:
        """Return what to do where contacts give energy; nothing by default."""
        del dynamics, p
        return ""

    def guess(self, dynamics: Dynamics, q: Array, v: Array, h: float) -> Mapping[str, Array]:
        """Return a cold start for variables that `add_step` made, by name; none by default."""
        del dynamics, q, v, h
        return {}

    def check_horizon(self, dynamics: Dynamics, p: Array) -> None:
        """Refuse what `add_interval` is not for: by default what `check` does, jumps, rolling.

        Raises
        ------
        ValueError
            Naming what it cannot, and a scheme that can.
        """
        if type(self).add_interval is Scheme.add_interval:
            raise self._make_horizon_error()
        self.check(dynamics, p)
        self.check_no_jumps(dynamics, p)
        if name := _find_contact(dynamics, lambda drag: drag.turns):
            raise ValueError(
                f"contact {name!r} resists rolling or spinning, which horizons do not know: leave "
                "rolling and spinning out of its ContactLaw, or simulate"
            )

    def remedy(self, bores: bool) -> str:
        """Return what else to try where a motion through contacts is not found; nothing by default.

        ``bores`` says whether contacts are in bores.
        """
        del bores
        return ""

    def remedies(self, dynamics: Dynamics, contacts: bool) -> str:
        """Return what else to try where no motion in steps is found, `remedy` among it.

        ``contacts`` says whether the motion has some.
        """
        remedy = self.remedy(bool(dynamics.bores)) if contacts else ""
        frictions = (e for e in dynamics.elements if isinstance(e, JointFriction))
        dry = [e.name for e in frictions if not isinstance(getattr(e, "law", None), ViscousLaw)]
        if not dry:
            return remedy
        more = f" and {len(dry) - MOST_NAMED} more" if len(dry) > MOST_NAMED else ""
        friction = (
            f"dry friction of {', '.join(map(repr, dry[:MOST_NAMED]))}{more} turns round almost at "
            "once in steps, which may be what stops the search: optimize without it first, by "
            "plan=IN_STEPS, and "
            "give that motion as the guess, Earlier(result)"
        )
        return f"{friction}\n- {remedy}" if remedy else friction

    def check_no_jumps(self, dynamics: Dynamics, p: Array) -> None:
        """Refuse static friction, and restitution unless steps end at impacts.

        Raises
        ------
        ValueError
            Naming the contact.
        """
        if name := _find_contact(dynamics, lambda drag: drag.has_static):
            raise ValueError(
                f"contact {name!r} has static_friction, by which its force jumps where it lets go: "
                "derivatives would miss that the time of it moves, and a horizon knows no time of "
                "it; leave static_friction out, or simulate by Variational"
            )
        e = np.asarray(dynamics.restitution(p)).ravel()
        if self.ends_early or not np.any(e > 0):
            return
        k = int(np.argmax(e))
        remedy = "use ContactAligned(), whose steps end there, or set it to zero"
        if k in dynamics.slip_contacts:
            remedy = "set it to zero, or, in simulations, use ContactAligned()"
        raise ValueError(
            f"contact {dynamics.contact_names[k]!r} rebounds with e = {e[k]:g}, but "
            f"{type(self).__name__} has impacts at the ends of its steps: derivatives would miss "
            f"that the time of an impact moves, whatever the step size; {remedy}"
        )

    def _make_horizon_error(self) -> ValueError:
        name = type(self).__name__
        return ValueError(f"{name} has no equations for a whole horizon: use Variational()")

    def add_interval(self, one: HorizonStep, before: ca.SX) -> Interval:
        """State what holds at a node of a horizon and in the step that follows.

        The equations of the scheme, in which modes of contact are found by complementarity: nothing
        is switched by the state.

        Parameters
        ----------
        one : HorizonStep
            The step, from the node to the next; its program receives unknowns of the node,
            equations and complementarity.
        before : SX scalar [s]
            Size of the step that arrives at the node, zero at the start of the horizon.

        Returns
        -------
        Interval
            At the first node.

        Raises
        ------
        ValueError
            If the scheme has none.
        """
        del one, before
        raise self._make_horizon_error()

    def add_ending(self, one: HorizonStep, before: ca.SX) -> Interval:
        """State what holds at the last node of a horizon, by default nothing.

        As `add_interval`, on a step of no length from the node to itself.
        """
        return Interval.end(one.dynamics, one.start.v, before)


class UnifiedScheme(Scheme):
    """A scheme whose equations are the same in a simulation and over a horizon.

    So ``horizon_at_end`` is ``forces_at_end``, whatever a class says of it.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.horizon_at_end = cls.forces_at_end

    @abstractmethod
    def state(self, one: OneStep) -> Transition:
        """State the equations of one step.

        Parameters
        ----------
        one : OneStep
            Its start, its size, and the program that receives unknowns and equations.

        Returns
        -------
        Transition
            Of which both `Step` and `Interval` are made.
        """

    def errors(self, x: Transition, h: ca.SX) -> Errors:
        """Return estimates of the local error of a step of ``h``; by default of first order."""
        return estimate_first_order_errors(x.balances, x.end, h)

    def refine(self, step: Step) -> Step:
        """Return the step with what the scheme knows better than `Step.of`; nothing by default."""
        return step

    def add_step(
        self, mpcc: Mpcc, dynamics: Dynamics, start: StepStart, h: ca.SX, scales: Scales
    ) -> Step:
        one = SimulatedStep.of(mpcc, dynamics, start.node(dynamics), h, scales)
        x = self.state(one)
        return self.refine(Step.of(x, h, self.errors(x, h)))

    def add_interval(self, one: HorizonStep, before: ca.SX) -> Interval:
        del before
        return Interval.of(one.start, self.state(one), one.h)


def _find_contact(d: Dynamics, has: Callable[[Drag], bool]) -> str:
    """Return the name of the first contact with such friction, "" without one."""
    return next((d.contact_names[drag.contact] for drag in d.drags if has(drag)), "")


def _refuse_compression(d: Dynamics, p: Array, of: object) -> None:
    """Refuse numbers of contacts that laws of impact without compression do not take."""
    for name, default in (("tangential_restitution", 0.0), ("stiffness", 1.0)):
        stated = np.asarray(getattr(d, name)(p)).ravel()
        if np.any(other := stated != default):
            k = int(np.argmax(other))
            raise ValueError(
                f"contact {d.contact_names[k]!r} has {name} {stated[k]:g}, which "
                f"{type(of).__name__} does not take: use Variational(impact=EnergeticImpact()), or "
                f"leave it at {default:g}"
            )
