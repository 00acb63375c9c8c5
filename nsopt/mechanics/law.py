"""What a contact does beyond keeping bodies apart: restitution and friction."""

from dataclasses import dataclass

from nsopt.mechanics.checks import between, not_negative, positive
from nsopt.mechanics.parameter import Parameter, Scalar


@dataclass(frozen=True)
class ContactLaw:
    """Restitution and friction of a contact or of a joint with clearance.

    The contact that carries it checks its numbers, so that the message names the contact.

    Parameters
    ----------
    restitution : float or Parameter
        Newton's e, from 0 (no rebound) to 1 (no loss).
    friction : float or Parameter
        Coulomb's mu, for sticking and slipping alike.
    viscous : float or Parameter [N s/m]
        Tangential force over slip velocity while in contact, beside that of Coulomb.
    creep : float or Parameter [m/s]
        Slip speed at which a regularised friction force reaches 0.7 (one over the root of two) of
        mu times the normal force: friction in space, and compliant contacts. Friction in the plane
        is exact and makes no use of it.
    """

    restitution: Scalar = 0.0
    friction: Scalar = 0.0
    viscous: Scalar = 0.0
    creep: Scalar = 1e-4

    @property
    def frictionless(self) -> bool:
        """Whether there is no tangential force, whatever the values of Parameters."""
        return not any(isinstance(x, Parameter) or x != 0 for x in (self.friction, self.viscous))

    def check(self, of: str) -> None:
        """Raise a ValueError that names the number and its owner, ``of``, if one is out of range.

        Parameters
        ----------
        of : str
            Such as ``of RevoluteClearance 'hinge'``.
        """
        rebound = "0 is an impact without rebound, 1 one without loss"
        between(f"restitution {of}", self.restitution, 0, 1, rebound)
        not_negative(f"friction {of}", self.friction)
        not_negative(f"viscous {of}", self.viscous)
        slip = "give a slip speed [m/s] that counts as sticking"
        positive(f"creep {of}", self.creep, slip)
