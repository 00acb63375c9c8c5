"""Every cost and condition of a trajectory: one row or more each; see ``catalog.py``."""

import numpy as np

import nsopt as ns
from nsopt import Frame
from nsopt.trajectory import conditions, costs


def hand():
    return Frame(ARM.bodies[-1], (0.2, 0, 0))


def lower():
    return conditions.Capsule(Frame(ARM.bodies[-1], (-0.2, 0, 0)), hand(), 0.03)


def _arm():
    """Two links in space, both joints driven."""
    upper = ns.Body("upper", 2.0, (0.01, 0.05, 0.05), position=(0.2, 0, 0))
    lower = ns.Body("lower", 1.0, (0.005, 0.02, 0.02), position=(0.6, 0, 0))
    joints = [
        ns.Revolute("shoulder", Frame(None, axes=(0, 1, 0)), Frame.at(upper, (0, 0, 0), (0, 1, 0))),
        ns.Revolute("elbow", Frame.at(upper, (0.4, 0, 0)), Frame.at(lower, (0.4, 0, 0))),
    ]
    drives = [
        ns.Actuator("shoulder", -2.0, 2.0, 3.0, 40.0, damping=0.5),
        ns.Actuator("elbow", -2.0, 2.0, 3.0, 20.0, damping=0.2),
    ]
    return ns.Mechanism([upper, lower], joints, "relative", drives)


ARM = _arm()
TORSO = conditions.Capsule(Frame(None, (-0.5, 0, 0)), Frame(None, (-0.5, 0.1, 0.3)), 0.1)
TENT = conditions.ConvexHull(
    Frame(None, (0.1, 0.6, 0)), [(0, 0, 0), (0.3, 0, 0.1), (0.1, 0.2, 0), (0.1, 0.1, 0.3)]
)
COSTS = [
    costs.Effort(scale=5.0),
    costs.InputEffort(input="load"),
    costs.Power(scale=20.0),
    costs.Energy(braking=0.5),
    costs.JointResistance(reaction_force=50.0, reaction_torque=10.0),
    costs.JointLoad(force={"elbow": 100.0}, moment=30.0),
    costs.Duration(weight=2.0),
    costs.Smoothness(weight=0.1),
    costs.Smoothness(names=["elbow.rate"]),
    costs.Jerk(weight=1e-3),
    costs.Tracking(trajectory=lambda t: (np.sin(t), 0.3 * t)),
    costs.TaskTracking(frame=hand(), path=lambda t: (0.4, 0.1 * t, np.cos(t))),
    costs.BaseReaction(joint="shoulder", force=30.0),
    costs.FinalPose(q=(0.7, np.nan)),
    costs.FinalTask(frame=hand(), position=(0.3, 0.4, 0.1), axes=np.eye(3), length=0.2),
    2 * costs.Effort(scale=5.0) + costs.FinalPose(q=(0.7, 0.1)),
]
CONDITIONS = [
    conditions.StartAt((0.1, 0.2), (0.0, 0.0), accelerations=(0.0, np.nan)),
    conditions.EndAt((np.nan, 0.5), (0.0, np.nan)),
    conditions.Reach(hand(), (0.3, 0.4, 0.1)),
    conditions.Within("elbow.angle", -1.0, 1.0),
    conditions.Within("load", 0.0, 2.0),
    conditions.ActuatorLimits(),
    conditions.InCorridor(hand(), lambda t: (0.3, 0.2 * t, 0.1), 0.05),
    conditions.JointLoadWithin("elbow", axial=20.0, normal=30.0, torque=8.0),
    conditions.Orient(hand(), np.eye(3)),
    conditions.Orient(hand(), np.eye(3), about_z=True),
    conditions.Orient(hand(), np.eye(3), within=0.4),
    conditions.OnPath(hand(), lambda t: (0.3, 0.2 * t, 0.1)),
    conditions.During(conditions.Reach(hand(), (0.3, 0.4, 0.1)), 0.4),
    conditions.DriveWithin("elbow", -5.0, 5.0),
    conditions.PowerLimits(20.0),
    conditions.JerkLimits(300.0, joints=["elbow"]),
    conditions.AccelerationLimits(30.0, joints=["elbow"]),
    conditions.ClearOf(hand(), conditions.Sphere(Frame(None, (0, 0.5, 0)), 0.1)),
    conditions.ClearOf(lower(), conditions.Sphere(Frame(None, (0, 0.5, 0)), 0.1), 0.02),
    conditions.ClearOf(hand(), TORSO),
    conditions.ClearOf(lower(), TORSO),
    conditions.ClearOf(lower(), conditions.Box(Frame(None, (0.1, 0.5, 0)), (0.2, 0.3, 0.4))),
    conditions.ClearOf(lower(), conditions.HalfSpace(Frame(None, (0, 0, -0.5)))),
    conditions.ClearOf(hand(), TENT),
    conditions.ClearOf(lower(), TENT, 0.02),
    conditions.ClearOf(
        conditions.ConvexHull(hand(), TENT.points), conditions.HalfSpace(Frame(None, (0, 0, -1)))
    ),
    conditions.LinksApart([TORSO, lower()], by=0.01),
    conditions.Periodic((0.1, np.nan)),
    conditions.During(conditions.Within("elbow.angle", -1.0, 1.0), 0.3, 0.7),
]
# For a mechanism with contacts "floor" and ranges of motion.
STEPPED_COSTS = [
    costs.ContactForce(scale=5.0),
    costs.ContactForce(contacts=["floor"], power=4.0),
    costs.ImpactEnergy(weight=2.0),
    costs.EvenSteps(weight=0.1),
    costs.RestrictingEnergy(size=0.5),
    costs.RestrictingMoment(torque=2.0, force=3.0),
]
STEPPED_CONDITIONS = [
    conditions.Touching("floor"),
    conditions.Apart("floor"),
    conditions.Within("ends.excess", upper=0.05),
    conditions.FrictionMargin(0.2, ["floor"]),
    conditions.During(conditions.Touching("floor"), 0.3, 0.7),
    conditions.During(conditions.Apart("floor"), 0.7, 1.0),
]
