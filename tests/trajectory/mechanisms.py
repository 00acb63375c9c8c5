"""Small mechanisms of which optima are known."""

from nsopt import Actuator, Body, Frame, Mechanism, Prismatic, Revolute, assemble
from nsopt.trajectory import Sphere

UNIT = (1.0, 1.0, 1.0)


def cart(elements=(), **limits):
    """1 kg on a rail, driven by an actuator."""
    body = Body("cart", 1.0, UNIT)
    rail = Prismatic("rail", Frame(None), Frame(body))
    return assemble(Mechanism([body], [rail], "relative", [Actuator("rail", **limits)]), elements)


def wheel():
    """1 kg m^2 about z, driven by an actuator."""
    body = Body("wheel", 1.0, UNIT)
    hinge = Revolute("hinge", Frame(None), Frame(body))
    return assemble(Mechanism([body], [hinge], "relative", [Actuator("hinge")]))


def gantry():
    """1 kg that two rails carry, along x and along y, both driven; and its hand."""
    bridge, hand = Body("bridge", 0.0), Body("hand", 1.0, UNIT)
    joints = [
        Prismatic("along", Frame(None, axes=(1, 0, 0)), Frame(bridge, axes=(1, 0, 0))),
        Prismatic("across", Frame(bridge, axes=(0, 1, 0)), Frame(hand, axes=(0, 1, 0))),
    ]
    drives = [Actuator("along"), Actuator("across")]
    return assemble(Mechanism([bridge, hand], joints, "relative", drives)), Frame(hand)


def ball_at(centre, radius):
    """A sphere at a point of the ground."""
    return Sphere(Frame(None, centre), radius)
