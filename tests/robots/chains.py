"""Poses of a tree's bodies from its frames alone, as numbers."""

import numpy as np
from scipy.spatial.transform import Rotation

from nsopt import Fixed, Prismatic, Revolute


def homogeneous(axes, origin):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = axes, origin
    return T


def moved(joint, x):
    """4x4 motion of frame b in frame a."""
    if isinstance(joint, Revolute):
        return homogeneous(Rotation.from_rotvec([0, 0, x]).as_matrix(), [0, 0, 0])
    if isinstance(joint, Prismatic):
        return homogeneous(np.eye(3), [0, 0, x])
    assert isinstance(joint, Fixed)
    return np.eye(4)


def poses(mechanism, **coordinates):
    """4x4 poses of centres of mass by body name; bodies on no joint are where they start."""
    hung = {joint.b.body.name: joint for joint in mechanism.joints}
    bodies = {body.name: body for body in mechanism.bodies}

    def pose(name):
        if name not in hung:
            return homogeneous(bodies[name].rotation, bodies[name].position)
        joint = hung[name]
        base = np.eye(4) if joint.a.body is None else pose(joint.a.body.name)
        a, b = (homogeneous(f.axes, f.origin) for f in (joint.a, joint.b))
        return base @ a @ moved(joint, coordinates.get(joint.name, 0.0)) @ np.linalg.inv(b)

    return {name: pose(name) for name in bodies}


def starts(mechanism):
    """4x4 poses of centres of mass as stated, by body name."""
    return {body.name: homogeneous(body.rotation, body.position) for body in mechanism.bodies}
