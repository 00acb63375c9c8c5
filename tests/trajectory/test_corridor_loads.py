"""Least joint loads along a path that leaves a freedom, and loads within limits."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nsopt import GROUND, Actuator, ArcPath, Body, Frame, Mechanism, Revolute, assemble, rms_loads
from nsopt.trajectory import (
    Guess,
    Horizon,
    InCorridor,
    JointLoad,
    JointLoadWithin,
    Smoothness,
    StartAt,
    Trajectory,
    optimize,
)
from tests.states import array

G, LINK, T, TOLERANCE = 9.81, 0.4, 2.0, 1e-3
CENTRE, RADIUS = np.array([0.5, 0.3]), 0.2
PATH = ArcPath((*CENTRE, 0.0), RADIUS, 2 * np.pi, T)
JOINTS = ["hinge0", "hinge1", "hinge2"]
pytestmark = pytest.mark.slow


def model():
    bodies = [
        Body(f"link{k}", 2.0, (2e-3, 0.03, 0.03), position=((k + 0.5) * LINK, 0, 0))
        for k in range(3)
    ]
    bases = [Frame(GROUND), *(Frame.at(b, ((k + 1) * LINK, 0, 0)) for k, b in enumerate(bodies))]
    joints = [
        Revolute(name, base, Frame.at(body, (k * LINK, 0, 0)))
        for k, (name, base, body) in enumerate(zip(JOINTS, bases, bodies, strict=False))
    ]
    drives = [Actuator(name) for name in JOINTS]
    d = assemble(Mechanism(bodies, joints, "relative", drives), gravity=(0, -G, 0))
    return d, Frame.at(bodies[-1], (3 * LINK, 0, 0))


def tip(q):
    sums = np.cumsum(q)
    return LINK * np.array([np.cos(sums).sum(), np.sin(sums).sum()])


def jacobian(q):
    sums = np.cumsum(q)
    columns = LINK * np.array([-np.sin(sums), np.cos(sums)])
    return np.array([columns[:, k:].sum(axis=1) for k in range(3)]).T


def told(t):
    """Place and velocity of the path."""
    x = t / T
    angle = 2 * np.pi * (10 * x**3 - 15 * x**4 + 6 * x**5)
    rate = 2 * np.pi * (30 * x**2 - 60 * x**3 + 30 * x**4) / T
    c, s = np.cos(angle), np.sin(angle)
    return CENTRE + RADIUS * np.array([c, s]), RADIUS * rate * np.array([-s, c])


def by_pseudo_inverse():
    """Coordinates over time of least rates at each time, from a posture on the path."""
    q = np.array([-0.6, 1.3, 0.9])
    for _ in range(50):
        q = q + np.linalg.pinv(jacobian(q)) @ (told(0.0)[0] - tip(q))

    def rate(t, q):
        place, velocity = told(t)
        return np.linalg.pinv(jacobian(q)) @ (velocity + 20 * (place - tip(q)))

    return solve_ivp(rate, (0, T), q, "DOP853", rtol=1e-10, atol=1e-12, dense_output=True).sol


class AlongPath(Guess):
    """The motion by the pseudo-inverse."""

    def trajectory(self, share, bounds, inputs):
        motion, t, eps = by_pseudo_inverse(), T * share, 1e-5
        q = motion(t).T
        near = np.clip(t, eps, T - eps)
        v = (motion(near + eps) - motion(near - eps)).T / (2 * eps)
        a = (motion(near + eps) - 2 * motion(near) + motion(near - eps)).T / eps**2
        return Trajectory(q, v, a, np.zeros((len(t), len(inputs))), T)


def loads(d, q, v, a):
    """Mean square of all joint forces over evenly spaced times, from Newton and Euler."""
    none = [np.zeros(0)] * 3
    wrenches = [array(d.reactions(0, *x, [], 1, y, *none)) for *x, y in zip(q, v, a, strict=True)]
    return np.mean(np.sum(np.array(wrenches)[:, :3] ** 2, axis=(1, 2)))


@cache
def best(limit=np.inf):
    d, frame = model()
    guess = AlongPath()
    q0 = by_pseudo_inverse()(0.0)
    conditions = [StartAt(q0, np.zeros(3)), InCorridor(frame, PATH, TOLERANCE)]
    if np.isfinite(limit):
        conditions.append(JointLoadWithin("hinge1", normal=limit))
    return d, optimize(
        d,
        Horizon(T, steps=40),
        [
            JointLoad(joints=JOINTS, torque=np.inf, force=100.0, moment=np.inf),
            Smoothness(weight=1e-4),
        ],
        conditions,
        guess,
    )


def test_least_loads_save_against_the_pseudo_inverse():
    d, result = best()
    assert result.completed, result.stop_reason
    q = result["q"].values
    off = [
        np.linalg.norm(tip(x) - told(t)[0]) for x, t in zip(q, result["time"].values, strict=True)
    ]
    assert np.max(off) < 1.001 * TOLERANCE
    share = np.linspace(0, 1, 201)
    motion = AlongPath().trajectory(share, (T, T), ())
    plain = loads(d, motion.q, motion.v, motion.a)
    least = loads(d, q, result["v"].values, result["acceleration"].values)
    assert least < 0.99 * plain
    table = rms_loads({"least": result}, JOINTS)
    square = sum(table.loc["least", (joint, "force")] ** 2 for joint in JOINTS)
    assert square == pytest.approx(least, rel=0.02)


def test_loads_stay_within_their_limits():
    _, free = best()
    most = np.linalg.norm(free.data["joint_reaction"].sel(joint="hinge1").values, axis=1).max()
    limit = 0.98 * most
    _, result = best(float(limit))
    assert result.completed, result.stop_reason
    force = np.linalg.norm(result.data["joint_reaction"].sel(joint="hinge1").values, axis=1)
    assert force.max() < 1.0001 * limit
    assert result.objective > free.objective
