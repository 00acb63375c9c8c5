"""The law of a contact: restitution and friction."""

from dataclasses import dataclass

from nsopt.checks import between, not_negative, positive
from nsopt.parameter import Parameter, Scalar


def may_act(number: Scalar) -> bool:
    """Return whether a number is not zero, or may become so as a Parameter."""
    return isinstance(number, Parameter) or number != 0


@dataclass(frozen=True)
class ContactLaw:
    """Restitution and friction of a contact or of a joint with clearance.

    Its numbers are checked by the contact it belongs to, so that a message names the contact.

    Parameters
    ----------
    restitution : float or Parameter
        Newton's e, from 0 (no rebound) to 1 (no loss).
    friction : float or Parameter
        Coulomb's mu; what sticks does not slip at all.
    viscous : float or Parameter [N s/m]
        Viscous tangential force over slip velocity while in contact, added to Coulomb friction.
    static_friction : float or Parameter, optional
        mu_s, up to which a contact that sticks holds; by default mu. In simulations by
        `Variational`.
    rolling, spinning : float or Parameter [m]
        Lever arms rho and sigma: a moment of at most rho N resists that one surface rolls on the
        other, one of at most sigma N that it spins about their normal, which none does in the
        plane; what they hold does not turn at all. In simulations.
    tangential_restitution : float or Parameter
        From 0 to 1, by `EnergeticImpact`: the square root of the part of what friction took from a
        contact that sticks as an impact ends that it gives back; the ball's slip is then turned
        round, times this.
    stiffness : float or Parameter [N/m^exponent]
        By `EnergeticImpact`, where contacts are compressed at once: only ratios count.
    """

    restitution: Scalar = 0.0
    friction: Scalar = 0.0
    viscous: Scalar = 0.0
    static_friction: Scalar | None = None
    rolling: Scalar = 0.0
    spinning: Scalar = 0.0
    tangential_restitution: Scalar = 0.0
    stiffness: Scalar = 1.0

    @property
    def frictionless(self) -> bool:
        """Whether there is no tangential force or moment, whatever the values of Parameters."""
        resists = (
            self.friction,
            self.viscous,
            self.static_friction or 0,
            self.rolling,
            self.spinning,
        )
        return not any(map(may_act, resists))

    @property
    def of_simulations(self) -> str:
        """A number that only simulations of rigid contacts know, by its name; "" without one."""
        numbers = {
            "static_friction": self.static_friction is not None,
            "rolling": may_act(self.rolling),
            "spinning": may_act(self.spinning),
            "tangential_restitution": may_act(self.tangential_restitution),
            "stiffness": isinstance(self.stiffness, Parameter) or self.stiffness != 1,
        }
        return next((name for name, given in numbers.items() if given), "")

    def check(self, of_element: str) -> None:
        """Raise a ValueError that names number and element if a number is out of range.

        Parameters
        ----------
        of_element : str
            Such as ``of RevoluteClearance 'hinge'``.
        """
        remedy = "0 is an impact without rebound, 1 one without loss"
        between(f"restitution {of_element}", self.restitution, 0, 1, remedy)
        not_negative(f"rolling {of_element}", self.rolling)
        not_negative(f"spinning {of_element}", self.spinning)
        kinetic = not_negative(f"friction {of_element}", self.friction)
        not_negative(f"viscous {of_element}", self.viscous)
        if self.static_friction is not None:
            static = not_negative(f"static_friction {of_element}", self.static_friction)
            if static < kinetic:
                raise ValueError(
                    f"static_friction {of_element} must not be below its friction, got "
                    f"{static:g} < {kinetic:g}: leave it out where both are the same"
                )
        what = f"tangential_restitution {of_element}"
        between(what, self.tangential_restitution, 0, 1, "1 gives all back that friction took")
        positive(f"stiffness {of_element}", self.stiffness)
