"""Mechanisms with a known answer, that several test files run."""

import numpy as np

from nsopt import (
    Body,
    ContactLaw,
    Frame,
    Mechanism,
    PlanarPrismaticClearance,
    PlaneContact,
    Revolute,
    assemble,
)

G = 9.81
UPRIGHT = np.column_stack([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])  # z of the frame along world y


def about_z(angle):
    return (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))


def turned(q):
    """Return the rotation about z of the first body [rad], modulo 2 pi, times (..., nq)."""
    return 2 * np.arctan2(q[..., 6], q[..., 3])


def wrapped(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


def ball(restitution=0.9, height=1.0):
    """A particle above a floor."""
    body = Body("ball", 1.0, position=(0, 0, height), point_mass=True)
    law = ContactLaw(restitution=restitution)
    floor = PlaneContact("floor", Frame(None), Frame(body), law=law)
    return assemble(Mechanism([body]), [floor], (0, 0, -G))


def impacting_stick():
    """A rod that drops on a floor with e = 1 and mu = 0.01, in the plane."""
    angle = np.pi / 4
    rod = Body(
        "rod",
        1.0,
        (1 / 12, 1 / 12, 1 / 12),
        position=(np.sin(angle) / 2, np.cos(angle) / 2 + 0.01, 0),
        orientation=about_z(angle),
        velocity=(-0.5, 0.1, 0),
        angular_velocity=(0, 0, 0.1),
    )
    law = ContactLaw(restitution=1.0, friction=0.01)
    floor = PlaneContact(
        "floor", Frame(None, (0, 0, 0), UPRIGHT), Frame(rod, (0, -0.5, 0)), planar=True, law=law
    )
    return assemble(Mechanism([rod]), [floor], (0, -10, 0))


def slider_crank(restitution=0.0):
    """Crank, rod and slider in a guide with clearance [Flores, Leine, Glocker 2010]."""
    l1, l2, a, b, c = 0.153, 0.306, 0.05, 0.025, 0.001
    masses, inertias, speeds = (0.038, 0.038, 0.076), (7.4e-5, 5.9e-4, 2.7e-6), (150.0, -75.0, 0)
    centres = (l1 / 2, l1 + l2 / 2, l1 + l2)
    ups = (speeds[0] * l1 / 2, speeds[0] * l1 + speeds[1] * l2 / 2, speeds[0] * l1 + speeds[1] * l2)
    bodies = [
        Body(
            name,
            m,
            (J, J, J),
            position=(x, 0, 0),
            velocity=(0, up, 0),
            angular_velocity=(0, 0, w),
        )
        for name, m, J, x, up, w in zip(
            ("crank", "rod", "slider"), masses, inertias, centres, ups, speeds, strict=True
        )
    ]
    ends = (None, *bodies)
    hinges = [
        Revolute(
            f"hinge{k}",
            Frame.at(ends[k], (x, 0, 0)) if ends[k] else Frame(None, (x, 0, 0)),
            Frame.at(ends[k + 1], (x, 0, 0)),
        )
        for k, x in enumerate((0.0, l1, l1 + l2))
    ]
    law = ContactLaw(restitution=restitution)
    guide = PlanarPrismaticClearance(
        "guide", Frame(None), Frame(bodies[2]), 2 * a, 2 * b, c, law=law
    )
    return assemble(Mechanism(bodies, hinges), [guide], (0, -G, 0))
