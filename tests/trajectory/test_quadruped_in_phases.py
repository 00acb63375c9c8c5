"""A quadruped of a file jumps in a given sequence of contact, judged by another engine."""

import warnings
from importlib import metadata

import numpy as np
import pinocchio
import pytest

from nsopt import GROUND, ContactLaw, Frame, PlaneContact, Solver, assemble
from nsopt.mpcc import Ipopt, Ldlt
from nsopt.robots import load_urdf
from nsopt.trajectory import (
    ActuatorLimits,
    Effort,
    EndAt,
    Horizon,
    MotionPhase,
    Open,
    Smoothness,
    StartAt,
    Sticking,
    Straight,
    optimize_phases,
)

G, MU = 9.81, 0.7
FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")


def find_file(end):
    files = metadata.files("example-robot-data") or []
    return next(str(x.locate()) for x in files if str(x).endswith(f"/{end}"))


@pytest.fixture(scope="module")
def jump():
    """Return the model of pinocchio, where the base is [m], and the three phases of a jump."""
    urdf = find_file("urdf/a1.urdf")
    model = pinocchio.buildModelFromUrdf(urdf, pinocchio.JointModelFreeFlyer())
    pinocchio.loadReferenceConfigurations(model, find_file("srdf/a1.srdf"))
    stand, data = model.referenceConfigurations["standing"], model.createData()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the file has beside bodies and joints
        mechanism = load_urdf(urdf, floating_base=True, merge_fixed=True)
    joints, numbers = {x.name: x for x in mechanism.joints}, [model.getFrameId(x) for x in FEET]

    def place(q):
        pinocchio.framesForwardKinematics(model, data, q)
        return np.array([data.oMf[k].translation for k in numbers])

    bodies = [joints[model.names[model.frames[k].parentJoint]].b.body for k in numbers]
    at_zero, standing = place(pinocchio.neutral(model)), place(stand)
    height = stand[2] - standing[:, 2].min()
    ground = [
        PlaneContact(
            name,
            Frame(GROUND, (0, 0, height - stand[2] + x[2])),
            Frame.at(body, tuple(zero)),
            law=ContactLaw(friction=MU),
            scale=0.01,
        )
        for name, body, zero, x in zip(FEET, bodies, at_zero, standing, strict=True)
    ]
    d = assemble(mechanism, ground, (0, 0, -G))
    base = np.array(mechanism.bodies[0].position)
    legs = [stand[model.joints[model.getJointId(x)].idx_q] for x in d.q_owners[7:]]
    begin = np.array([*base, 1, 0, 0, 0, *legs])
    begin[2] += height
    high, end = begin.copy(), begin.copy()
    high[2], end[0] = begin[2] + 0.03, begin[0] + 0.1
    rest = np.zeros(d.nv)

    def state(mode, ends, *conditions):
        return MotionPhase(
            d,
            Horizon((0.1, 0.4), 6),
            [Effort(), Smoothness(weight=1e-2)],
            [ActuatorLimits(), *conditions],
            Straight(*ends),
            modes=dict.fromkeys(FEET, mode),
        )

    phases = [
        state(Sticking(), (begin, high), StartAt(begin, rest)),
        state(Open(), (begin, end)),
        state(Sticking(), (end, end), EndAt(end, rest)),
    ]
    best = optimize_phases(phases, duration=0.6, solver=Solver(Ipopt(linear_solver=Ldlt())))
    assert best.completed, best.stop_reason
    return model, base, best.phases


def find_centres_of_mass(model, base, phase):
    """Return where the centre of mass is at the nodes of a phase, by pinocchio, (n, 3) [m]."""
    data, owners = model.createData(), phase.data["q_name"].values[7:]
    columns = [model.joints[model.getJointId(str(x).removesuffix(".angle"))].idx_q for x in owners]
    centres = []
    for q in phase["q"].values:
        of_pinocchio = np.zeros(model.nq)
        turn = pinocchio.Quaternion(*q[3:7])
        of_pinocchio[:3] = q[:3] - turn.matrix() @ base
        of_pinocchio[3:7] = turn.coeffs()
        of_pinocchio[columns] = q[7:]
        centres.append(pinocchio.centerOfMass(model, data, of_pinocchio).copy())
    return np.array(centres)


@pytest.mark.slow
def test_it_flies_along_a_parabola_with_the_momentum_that_the_ground_has_given(jump):
    model, base, (push, flight, _) = jump
    t = flight["time"].values
    centres = find_centres_of_mass(model, base, flight)
    assert np.ptp(centres[:, 2]) > 5e-3
    centres[:, 2] += G * t**2 / 2
    at, speed = np.polynomial.polynomial.polyfit(t, centres, 1)
    assert centres == pytest.approx(at + np.outer(t, speed), abs=1e-6)
    fine, mass = push.sample(1e-4), sum(x.mass for x in model.inertias)
    forces = fine["input"].values.reshape(-1, 4, 3).sum(axis=1)  # normal, along x, along y
    impulse = np.trapezoid(forces, fine["time"].values, axis=0)
    weight = mass * G * push["time"].values[-1]
    assert impulse[[1, 2, 0]] == pytest.approx(mass * speed + [0, 0, weight], abs=1e-3 * weight)


@pytest.mark.slow
def test_friction_is_within_its_cones(jump):
    model, _, phases = jump
    weight = G * sum(x.mass for x in model.inertias)
    for phase in (phases[0], phases[2]):
        forces = phase.sample(1e-3)["input"].values.reshape(-1, 4, 3)
        normal, friction = forces[:, :, 0], np.linalg.norm(forces[:, :, 1:], axis=2)
        assert normal.min() > -1e-4 * weight
        assert np.all(friction <= MU * normal + 1e-3 * weight)
