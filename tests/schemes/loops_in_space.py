"""Closed loops in space: Bennett's linkage, which is over-constrained, and a Gough platform."""

import numpy as np

from nsopt import (
    GROUND,
    Body,
    ExtensionSpring,
    Frame,
    Mechanism,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    assemble,
)
from tests.states import axes_of, turn

G, DOWN = (0.0, 0.0, -9.81), (0.0, -9.81, 0.0)


def bennett_mechanism(coordinates):
    """Four hinges whose opposite links are equal, sin(alpha) / a = sin(beta) / b: one freedom.

    By counting it has none: three of its twenty rows are redundant.
    """
    a, alpha, b = 0.4, 0.6, 0.7
    beta = np.arcsin(b * np.sin(alpha) / a)
    first = 1.1
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    second = 2 * np.arctan(ratio / np.tan(first / 2))
    angles = (first, second, -first, -second)
    points, axes = [np.zeros(3)], [np.eye(3)]
    for angle, length, twist in zip(angles, (a, b, a, b), (alpha, beta) * 2, strict=True):
        turned = axes[-1] @ turn(z=angle)
        points.append(points[-1] + turned[:, 0] * length)
        axes.append(turned @ turn(x=twist))
    assert np.allclose(points[4], 0, atol=1e-14)
    assert np.allclose(axes[4][:, 2], [0, 0, 1], atol=1e-14)
    points, axes = points[:4], axes[:4]
    links = [
        Body(f"link {k}", 1.0, (0.02, 0.03, 0.025), position=(points[k] + points[k + 1]) / 2)
        for k in range(3)
    ]
    # The hinge of link k - 1 and link k is at the end of the one, the start of the other.
    around = [GROUND, *links, GROUND]
    hinges = [
        Revolute(
            f"hinge {k}",
            Frame.at(around[k], points[k], axes[k]),
            Frame.at(around[k + 1], points[k], axes[k]),
        )
        for k in range(4)
    ]
    return Mechanism(links, hinges, coordinates)


def bennett(coordinates):
    return assemble(bennett_mechanism(coordinates), gravity=DOWN)


STIFFNESS, FREE = 400.0, 1.1  # N/m, m


def gough_feet():
    """Where the legs stand, and where they carry the platform [m]."""
    below, above = (
        np.deg2rad([10, 110, 130, 230, 250, 350]),
        np.deg2rad([50, 70, 170, 190, 290, 310]),
    )
    feet = np.column_stack([np.cos(below), np.sin(below), np.zeros(6)])
    tops = np.column_stack([0.5 * np.cos(above), 0.5 * np.sin(above), np.ones(6)])
    return feet, tops


def gough_mechanism(coordinates):
    """A platform on six legs of two bodies each, all of its freedoms sprung; nothing redundant."""
    platform = Body("platform", 5.0, (0.4, 0.5, 0.8), (0, 0, 1.0), angular_velocity=(0, 0, 0))
    bodies, joints = [platform], []
    for k, (foot, top) in enumerate(zip(*gough_feet(), strict=True)):
        z = (top - foot) / np.linalg.norm(top - foot)
        x = np.cross([0, 0, 1], z)
        x /= np.linalg.norm(x)
        axes = np.column_stack([x, np.cross(z, x), z])
        lower = Body(f"lower {k}", 0.4, (0.01, 0.01, 0.004), position=foot + 0.3 * (top - foot))
        upper = Body(f"upper {k}", 0.3, (0.008, 0.008, 0.003), position=foot + 0.7 * (top - foot))
        bodies += [lower, upper]
        joints += [
            Universal(f"foot {k}", Frame(GROUND, foot, axes), Frame.at(lower, foot, axes)),
            Prismatic(f"slide {k}", Frame.at(lower, top, axes), Frame.at(upper, top, axes)),
            Spherical(f"top {k}", Frame.at(upper, top), Frame.at(platform, top)),
        ]
    return Mechanism(bodies, joints, coordinates)


def gough(coordinates):
    mechanism = gough_mechanism(coordinates)
    platform = next(iter(mechanism.bodies))
    springs = [
        ExtensionSpring(
            f"spring {k}",
            Frame(GROUND, foot),
            Frame.at(platform, top),
            STIFFNESS * (1 + k / 10),
            free_length=FREE,
        )
        for k, (foot, top) in enumerate(zip(*gough_feet(), strict=True))
    ]
    return assemble(mechanism, springs, gravity=G)


def gough_springs(q, v):
    """Their forces on the platform: body, point, force."""
    A, r = axes_of(q[3:7]), q[:3]
    for k, (foot, top) in enumerate(zip(*gough_feet(), strict=True)):
        point = r + A @ (top - [0, 0, 1.0])
        along = point - foot
        length = np.linalg.norm(along)
        yield 0, point, -STIFFNESS * (1 + k / 10) * (length - FREE) * along / length
