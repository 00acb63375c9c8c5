"""Two mechanisms whose optima are known: a cart on a rail, a bead on a wire."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from nsopt import (
    Actuator,
    Body,
    ContactLaw,
    Dynamics,
    Frame,
    Mechanism,
    Parameter,
    PlaneContact,
    Prismatic,
    assemble,
)
from nsopt.mechanics import Force, Load, State


def cart() -> Dynamics:
    """Return 1 kg on a rail, driven by an actuator."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    return assemble(Mechanism([body], [rail], "relative", [Actuator("rail")]))


@dataclass(frozen=True, eq=False)
class Wire(Force):
    """Turns the velocity of a bead at the rate u, without work: m u (-v_y, v_x)."""

    name: str
    bead: Body
    u: Parameter

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (Frame(self.bead),)

    def loads(self, s: State) -> list[Load]:
        v = s.motion(Frame(self.bead)).v
        force = s.value(self.bead.mass) * s.value(self.u) * ca.vertcat(-v[1], v[0], 0)
        return [Load(v, force)]


def bouncer() -> Dynamics:
    """Return the same with a wall at the origin of the rail, of parameter ``restitution``."""
    body = Body("cart", 1.0, (1.0, 1.0, 1.0), position=(0.0, 0.0, 1.0))
    rail = Prismatic("rail", Frame(None), Frame(body))
    law = ContactLaw(restitution=Parameter("restitution", 1.0))
    wall = PlaneContact("wall", Frame(None), Frame(body), law=law)
    mechanism = Mechanism([body], [rail], "relative", [Actuator("rail")])
    return assemble(mechanism, [wall])


def bead() -> Dynamics:
    """Return 1 kg on a wire under gravity; the input ``u`` is how fast the wire turns [rad/s]."""
    body = Body("bead", 1.0, point_mass=True)
    wire = Wire("wire", body, Parameter("u", 0.0))
    return assemble(Mechanism([body], coordinates="relative"), [wire], (0.0, -9.81, 0.0))
