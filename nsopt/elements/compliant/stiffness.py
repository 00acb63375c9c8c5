"""Stiffness of contacts from radii and material."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nsopt.checks import between, plain, positive


@dataclass(frozen=True)
class Material:
    """An elastic material.

    Parameters
    ----------
    young : float [Pa]
        Young's modulus E.
    poisson : float
        Poisson's ratio nu, from 0 to 0.5.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    young: float
    poisson: float

    def __post_init__(self) -> None:
        for name in ("young", "poisson"):
            plain(f"{name} of a Material", getattr(self, name), "give the stiffness a Parameter")
        positive("young of a Material", self.young)
        between("poisson of a Material", self.poisson, 0, 0.5, "steel has 0.3")

    @property
    def compliance(self) -> float:
        """(1 - nu^2) / E [1/Pa]."""
        return (1 - self.poisson**2) / self.young


STEEL = Material(207e9, 0.3)


class Stiffness(NamedTuple):
    """Stiffness and exponent of K delta^n; ``Flores(*stiffness)`` takes both."""

    stiffness: float  # [N/m^n]
    exponent: float


def hertz_stiffness(
    radius: float, other: float = np.inf, materials: tuple[Material, Material] = (STEEL, STEEL)
) -> Stiffness:
    """Return the stiffness of two balls: K = 4 / (3 (s_1 + s_2)) sqrt(R), n = 3/2 [Hertz 1881].

    1/R = 1/R_1 + 1/R_2 and s = (1 - nu^2) / E.

    Parameters
    ----------
    radius : float [m]
        Of a ball.
    other : float [m]
        Of the other one: below zero of a socket around the first, infinite of a plane.
    materials : Material, Material

    Raises
    ------
    ValueError
        If a socket is not wider than the ball, or the radius is not positive.

    Notes
    -----
    Studies of worn pins use it for cylinders as well, with the radii of pin and bore: of steel,
    9.5 mm in 10 mm, 6.6e10 N/m^1.5 [Flores, Ambrosio 2004, Comput. Struct. 82]. `pin_stiffness` is
    for lines of contact.
    """
    positive("radius of a ball", radius)
    curvature = 1 / radius + (0.0 if np.isinf(other) else 1 / other)
    if not curvature > 0:
        raise ValueError(
            f"a socket of radius {-other:g} m must be wider than the ball of {radius:g} m in it"
        )
    soft = sum(material.compliance for material in materials)
    return Stiffness(float(4 / (3 * soft * np.sqrt(curvature))), 1.5)


def pin_stiffness(
    clearance: float,
    length: float,
    load: float,
    materials: tuple[Material, Material] = (STEEL, STEEL),
) -> Stiffness:
    """Return the stiffness of a pin along a line in its bore, near a load.

    Johnson's law of line contact, delta = F E' / (pi L) (ln(4 pi L c / (F E')) - 1) with
    E' = s_1 + s_2, s = (1 - nu^2) / E [Johnson 1985, Contact Mechanics, sec. 5.6; for pins in
    bores Pereira, Ramalho, Ambrosio 2011, Nonlinear Dyn. 63], gives depths of forces. K delta^n has
    its value and its slope at the load.

    Parameters
    ----------
    clearance : float [m]
        c, radius of the bore minus radius of the pin.
    length : float [m]
        L, of the line of contact.
    load : float [N]
        A typical force of the contact.
    materials : Material, Material

    Raises
    ------
    ValueError
        If a number is not positive, or the load is beyond the law, which softens from there on.
    """
    for name, number in (("clearance", clearance), ("length", length), ("load", load)):
        positive(f"{name} of a pin", number)
    soft = sum(material.compliance for material in materials)
    largest = 4 * np.pi * length * clearance / soft
    decay = np.log(largest / load)
    if not decay > 2:
        raise ValueError(
            f"load {load:g} N is too much for a line of contact of {length:g} m in a clearance of "
            f"{clearance:g} m: below {largest * np.exp(-2):.3g} N"
        )
    depth = load * soft / (np.pi * length) * (decay - 1)
    exponent = (decay - 1) / (decay - 2)
    return Stiffness(float(load / depth**exponent), float(exponent))
