"""Contact as a force that grows with penetration, for comparison with rigid contact."""

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from nsopt.checks import finite, positive
from nsopt.mechanics import Contact, Force, Frame, Gap, Load, Outline, Output, State
from nsopt.parameter import Scalar


class _Press(NamedTuple):
    """One gap under pressure; all zero while it is open."""

    depth: ca.SX  # [m] delta, where open a length too small to matter
    touching: ca.SX  # 1 where the gap is closed, otherwise 0
    elastic: ca.SX  # [N] K delta^n
    rate: ca.SX  # [m/s] of the gap: less than zero while the bodies approach


@dataclass(frozen=True, eq=False)
class CompliantContact(Force):
    """The contact of Lankarani and Nikravesh on every gap of a contact or joint with clearance.

    Where a gap is negative by delta, the force that opens it is

        F = K delta^n [1 + 3 (1 - e^2) / 4 * ddelta / impact_speed], never less than zero:

    the form of [NLP-clearance 2024, eq. 3] with chi = 3 K (1 - e^2) / (4 impact_speed). The
    restitution e and the friction, here regularised, are those of the contact's own `ContactLaw`.
    The contact is given here instead of to the mechanism, which
    would keep it from being penetrated.

    Parameters
    ----------
    name : str
        Unique in the mechanism; that of the contact inside does not count.
    contact : Contact
        Any contact or joint with clearance.
    stiffness : float or Parameter [N/m^n]
        K.
    impact_speed : float or Parameter [m/s]
        Speed of approach when the gap closes. That is history, different in every impact, and a
        force here has none: state what is typical of the motion. A faster impact loses more than e
        says, a slower one less.
    exponent : float or Parameter
        n, 1.5 for the round bodies of Hertz [NLP-clearance 2024, eq. 1].
    creep : float or Parameter [m/s]
        The slip speed at which friction reaches 1/sqrt(2) of mu times the normal force.

    Raises
    ------
    TypeError
        If the contact is none.
    ValueError
        If stiffness, impact speed or creep is not positive, or the exponent is less than one; when
        it is assembled, if the contact moves with time.

    Notes
    -----
    The law was derived for e near one. From its own equation of motion, at the stated impact speed
    and with k = 3 (1 - e^2) / 4, bodies part at e' times that speed, where
    k (1 + e') = ln((1 + k) / (1 - k e')): e' = 0.913 for e = 0.9, 0.725 for 0.5, 0.663 for 0.
    """

    name: str
    contact: Contact
    stiffness: Scalar
    impact_speed: Scalar
    exponent: Scalar = 1.5
    creep: Scalar = 1e-4

    def __post_init__(self) -> None:
        of_element = f"of CompliantContact {self.name!r}"
        if not isinstance(self.contact, Contact):
            raise TypeError(
                f"contact {of_element} must be a contact or a joint with clearance, got "
                f"{type(self.contact).__name__}: use, for example, PlaneContact(name, a, b)"
            )
        positive(f"stiffness {of_element}", self.stiffness)
        positive(
            f"impact_speed {of_element}", self.impact_speed, "state the speed of a typical impact"
        )
        remedy = "give a slip speed [m/s] that counts as sticking"
        positive(f"creep {of_element}", self.creep, remedy)
        n = float(finite(f"exponent {of_element}", self.exponent, ()))
        if n < 1:
            raise ValueError(
                f"exponent {of_element} must be at least 1, got {n:g}: 1.5 is that of Hertz"
            )

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Those of the contact."""
        return self.contact.frames

    def outline(self) -> list[Outline]:
        return self.contact.outline()

    def energy(self, s: State) -> ca.SX:
        n, gaps = s.value(self.exponent), self.contact.gaps(s)
        moves = callable(getattr(self.contact, "offset", None))
        if moves or any(ca.depends_on(ca.vertcat(x.distance, x.slip), s.t) for x in gaps):
            raise ValueError(
                f"contact of CompliantContact {self.name!r} moves with time, whose work it would "
                "leave out: give the contact to the mechanism as it is, or let a joint such as "
                "Distance move a body with the wall"
            )
        pressed = [self._press(s, gap) for gap in gaps]
        return ca.sum1(ca.vertcat(*(p.elastic * p.depth / (n + 1) for p in pressed)))

    def loads(self, s: State) -> list[Load]:
        loads = []
        for gap in self.contact.gaps(s):
            press = self._press(s, gap)
            damping = self._damping(s, gap, press)
            loads.append(Load(press.rate, damping))
            if gap.slip.numel():
                pressure = press.elastic + damping
                loads.append(self._friction(s, gap, press.touching, pressure))
        return loads

    def outputs(self, s: State) -> list[Output]:
        gaps = self.contact.gaps(s)
        deep, forces = ca.SX(0), ca.SX(0)
        for gap in gaps:
            press = self._press(s, gap)
            deep = ca.fmax(deep, -gap.distance)
            forces += press.elastic + self._damping(s, gap, press)
        return [Output("depth", deep, "m"), Output("force", forces, "N")]

    def _press(self, s: State, gap: Gap) -> _Press:
        a, b = (s.motion(frame) for frame in (self.frames[0], self.frames[-1]))
        # Not zero while open: powers of zero have no finite second and third derivatives.
        depth = ca.fmax(-gap.distance, 1e-30)
        touching = gap.distance < 0
        return _Press(
            depth=depth,
            touching=touching,
            elastic=touching * s.value(self.stiffness) * depth ** s.value(self.exponent),
            rate=ca.dot(gap.normal, b.velocity_at(gap.point) - a.velocity_at(gap.point)),
        )

    def _damping(self, s: State, gap: Gap, press: _Press) -> ca.SX:
        """Return the dissipative part of the normal force [N]; the total never pulls."""
        k = 3 * (1 - s.value(gap.law.restitution) ** 2) / 4
        return -press.elastic * ca.fmin(k * press.rate / s.value(self.impact_speed), 1)

    def _friction(self, s: State, gap: Gap, touching: ca.SX, pressure: ca.SX) -> Load:
        """Return Coulomb's friction, regularised, and viscous friction while in contact."""
        law = gap.law
        speed = ca.sqrt(ca.sumsqr(gap.slip) + s.value(self.creep) ** 2)
        drag = s.value(law.friction) * pressure / speed + s.value(law.viscous) * touching
        return Load(gap.slip, -drag * gap.slip)
