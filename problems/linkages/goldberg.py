"""Goldberg's five-bar: two of Bennett's linkages that share a link, which is then left out."""

import numpy as np
from _bennett import Link, hinges, partner, screw

from nsopt.mobility import linkage

SHARED = Link(0.4, 0.6)  # m, rad
ONE, OTHER = partner(SHARED, 0.7), partner(SHARED, 0.55)
ANGLES = 1.1, 2.0  # rad


def screws() -> list[np.ndarray]:
    """Return the hinges: of the first linkage 1, 2 and 3, of the second the two not shared.

    Where both linkages have their fourth hinge, two links are joined rigidly in its place.
    """
    first = hinges(SHARED, ONE, ANGLES[0], np.zeros(3), np.eye(3))
    point, axes = first[3]
    x = first[2][0] - point  # along the shared link, from hinge 4 to hinge 3
    x, z = x / np.linalg.norm(x), axes[:, 2]
    # Hinge 4 leads to hinge 3, and on to the two others.
    turned = np.column_stack([x, np.cross(z, x), z])
    back = turned @ np.array(
        [
            [np.cos(ANGLES[1]), np.sin(ANGLES[1]), 0],
            [-np.sin(ANGLES[1]), np.cos(ANGLES[1]), 0],
            [0, 0, 1],
        ]
    )
    second = hinges(SHARED, OTHER, ANGLES[1], point, back)
    assert np.allclose(second[1][0], first[2][0], atol=1e-12)
    loop = [*first[:3], second[2], second[3]]
    return [screw(*hinge) for hinge in loop]


mechanism = linkage(screws(), [f"hinge {k}" for k in range(1, 6)])
