"""Contact as a force that grows with penetration: laws, friction, stiffness from material."""

from nsopt.elements.compliant.contact import CompliantContact
from nsopt.elements.compliant.laws import (
    AmbrosioFriction,
    CompliantFriction,
    CompliantLaw,
    Flores,
    Gonthier,
    HerbertMcWhannell,
    Hertz,
    HuntCrossley,
    Hysteresis,
    KelvinVoigt,
    LankaraniNikravesh,
    LeeWang,
    Press,
    SmoothCoulomb,
)
from nsopt.elements.compliant.stiffness import (
    STEEL,
    Material,
    Stiffness,
    hertz_stiffness,
    pin_stiffness,
)

__all__ = [
    "STEEL",
    "AmbrosioFriction",
    "CompliantContact",
    "CompliantFriction",
    "CompliantLaw",
    "Flores",
    "Gonthier",
    "HerbertMcWhannell",
    "Hertz",
    "HuntCrossley",
    "Hysteresis",
    "KelvinVoigt",
    "LankaraniNikravesh",
    "LeeWang",
    "Material",
    "Press",
    "SmoothCoulomb",
    "Stiffness",
    "hertz_stiffness",
    "pin_stiffness",
]
