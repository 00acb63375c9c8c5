"""A quadruped on its feet, against statics by another library."""

from dataclasses import replace
from functools import cache
from importlib import metadata

import numpy as np
import pinocchio as pin
import pytest

from nsopt.problem import load_optimization, problem_folder
from nsopt.trajectory import PLAN

FILE = problem_folder() / "quadruped" / "solo12.urdf"
LEGS = ("FL", "FR", "HL", "HR")


@cache
def stand(plan=None):
    stated = load_optimization("quadruped_stand")
    return (stated if plan is None else replace(stated, plan=plan)).solve()


def free(file):
    return pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())


def least_torques(q):
    """Torques (12,) and forces of feet (4, 3) of least squared torques at rest."""
    model = free(FILE)
    data = model.createData()
    x, y, z, e0, e1, e2, e3 = q[:7]
    there = np.array([x, y, z, e1, e2, e3, e0, *q[7:]])
    pin.computeJointJacobians(model, data, there)
    pin.framesForwardKinematics(model, data, there)
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    feet = [model.getFrameId(f"{leg}_foot") for leg in LEGS]
    J = np.vstack([pin.getFrameJacobian(model, data, k, world)[:3] for k in feet])
    g = pin.computeGeneralizedGravity(model, data, there)
    # g = (0, tau) + J^T f: f of the base's rows, then the freedom that is left.
    f = np.linalg.lstsq(J.T[:6], g[:6])[0]
    left = np.linalg.svd(J.T[:6])[2][6:].T
    f += left @ np.linalg.lstsq(J.T[6:] @ left, g[6:] - J.T[6:] @ f)[0]
    return g[6:] - J.T[6:] @ f, f.reshape(4, 3)


def test_masses_are_those_of_solo12():
    stored = metadata.files("example-robot-data")
    ours, theirs = free(FILE), free(next(x for x in stored if x.name == "solo12.urdf").locate())
    assert [*ours.names] == [*theirs.names]
    for a, b in zip(ours.inertias, theirs.inertias, strict=True):
        assert a.isApprox(b, 1e-12)
    for a, b in zip(ours.jointPlacements, theirs.jointPlacements, strict=True):
        assert a.isApprox(b, 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("plan", [None, PLAN], ids=["in steps", "exact"])
def test_it_stands_by_the_least_torques(plan):
    result = stand(plan)
    assert result.completed, result.stop_reason
    assert plan is None or "FL sticks" in result.data.attrs["contact_sequence"]
    assert np.nansum(result["iterations"].values) < 100
    torques, forces = least_torques(result["q"].values[0])
    assert result["drive"].values[:, 6:] == pytest.approx(np.tile(torques, (11, 1)), abs=2e-3)
    assert result["contact_force"].values[5] == pytest.approx(forces, abs=0.02)
    assert result.objective == pytest.approx(0.2 * torques @ torques, rel=1e-3)
    force = result["contact_force"].values[1:]
    assert np.all(np.hypot(force[..., 0], force[..., 1]) < 0.7 * force[..., 2])
    assert np.ptp(result["q"].values, axis=0).max() < 1e-5


@pytest.mark.slow
def test_it_jumps_by_the_impulses_of_its_feet():
    """From rest to rest what the floor gives is weight times duration; forces are contacts'.

    Steps in joint coordinates keep momentum in space to the second order of their size.
    """
    result = load_optimization("quadruped_jump").solve()
    assert result.completed, result.stop_reason
    pressed, gap = result["impulse"].values[1:], result["gap"].values
    weight = 9.81 * sum(x.mass for x in free(FILE).inertias)
    assert pressed.sum() == pytest.approx(0.5 * weight, rel=2e-3)
    assert pressed.min() >= 0
    assert gap.min() > -1e-9
    assert gap[10:13].min() > 0.02 - 1e-9
    force = result["contact_force"].values[1:]
    assert np.max(gap[1:] * force[..., 2]) < 1e-7
    assert np.max(np.hypot(force[..., 0], force[..., 1]) - 0.7 * force[..., 2]) < 2e-3
    q = result["q"].values
    assert q[-1] - q[0] == pytest.approx(np.eye(19)[0] * 0.1, abs=1e-9)
