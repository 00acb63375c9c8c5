"""Worn pins in the plane against an integration from event to event, up to where motions branch."""

from functools import cached_property

import casadi as ca
import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Compiled,
    FollowContacts,
    Frame,
    LargestStep,
    Mechanism,
    Planar,
    PlanarRevoluteClearance,
    Revolute,
    StepBounds,
    Variational,
    assemble,
    simulate,
)
from tests.schemes.event_driven import WornPins

G = 9.81
MASS, INERTIA = np.array([1.2, 0.8, 1.5]), np.array([0.01, 0.02, 0.03])  # crank, coupler, rocker
CRANK, COUPLER, ROCKER, GROUND_LINK = 0.1, 0.35, 0.3, 0.32  # m
SPIN = 8.0  # rad/s
CLEARANCE = 1e-3  # m


class FourBar:
    """A four-bar let go at a posture, both pins of its coupler worn."""

    def __init__(self, clearance, angle):
        self.c, self.angles = clearance, self._closed(angle)

    def _closed(self, angle):
        """Return the angles of crank, coupler and rocker where the pins are in the middle."""
        at = CRANK * np.array([np.cos(angle), np.sin(angle)])
        to = np.array([GROUND_LINK, 0.0]) - at
        far = np.hypot(*to)
        inner = np.arccos((COUPLER**2 + far**2 - ROCKER**2) / (2 * COUPLER * far))
        coupler = np.arctan2(to[1], to[0]) + inner
        end = at + COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
        return np.array([angle, coupler, np.arctan2(end[1], end[0] - GROUND_LINK)])

    def places(self):
        """Return where the three bodies start, their centres in the middle of their lengths."""
        a, b, c = (np.array([np.cos(x), np.sin(x)]) for x in self.angles)
        return [CRANK / 2 * a, CRANK * a + COUPLER / 2 * b, [GROUND_LINK, 0] + ROCKER / 2 * c]

    def rates(self):
        """Return the angular velocities of an ideal four-bar whose crank turns at SPIN."""
        across = [
            size * np.array([-np.sin(x), np.cos(x)])
            for size, x in zip((CRANK, COUPLER, ROCKER), self.angles, strict=True)
        ]
        coupler, rocker = np.linalg.solve(np.c_[across[1], -across[2]], -SPIN * across[0])
        return np.array([SPIN, coupler, rocker])

    def exact(self, T):
        """Return the centre of the coupler and the turns of all three at T, and the impacts."""
        w, (_, place, _) = self.rates(), self.places()
        swung = INERTIA + MASS * np.array([CRANK, 0, ROCKER]) ** 2 / 4
        mass = np.array([swung[0], MASS[1], MASS[1], swung[1], swung[2]])

        def offsets(q):
            crank, centre, coupler, rocker = q[0], q[1:3], q[3], q[4]
            half = COUPLER / 2 * ca.vertcat(ca.cos(coupler), ca.sin(coupler))
            end = ROCKER * ca.vertcat(ca.cos(rocker), ca.sin(rocker)) + ca.vertcat(GROUND_LINK, 0)
            return [
                centre - half - CRANK * ca.vertcat(ca.cos(crank), ca.sin(crank)),
                end - centre - half,
            ]

        v = np.array([w[0], *self.velocity_of_coupler(), w[1], w[2]])
        q = np.array([self.angles[0], *place, self.angles[1], self.angles[2]])
        motion = WornPins(mass, offsets, np.array([self.c, self.c])).run(q, v, T)
        end = np.array([*motion.q[1:3], *(motion.q[[0, 3, 4]] - self.angles)])
        return end, np.dot(mass, motion.v**2) / 2, motion.impacts

    def velocity_of_coupler(self):
        w = self.rates()
        across = [np.array([-np.sin(x), np.cos(x)]) for x in self.angles]
        return CRANK * w[0] * across[0] + COUPLER / 2 * w[1] * across[1]

    @cached_property
    def dynamics(self):
        """The same of nsopt."""
        w, places, v = self.rates(), self.places(), self.velocity_of_coupler()
        a, b, _ = (np.array([np.cos(x), np.sin(x)]) for x in self.angles)
        knee, hand, base = CRANK * a, CRANK * a + COUPLER * b, np.array([GROUND_LINK, 0.0])
        speeds = [w[0] * across(places[0]), v, w[2] * across(places[2] - base)]
        crank, coupler, rocker = (
            Body(
                name,
                MASS[k],
                np.full(3, INERTIA[k]),
                position=(*places[k], 0.0),
                velocity=(*speeds[k], 0.0),
                angular_velocity=(0.0, 0.0, w[k]),
            )
            for k, name in enumerate(("crank", "coupler", "rocker"))
        )
        joints = [
            Revolute("bearing", Frame(GROUND), Frame.at(crank, (0.0, 0.0, 0.0))),
            Revolute("pivot", Frame.at(GROUND, (*base, 0.0)), Frame.at(rocker, (*base, 0.0))),
            Planar("plane", Frame(GROUND), Frame(coupler)),
        ]
        pins = [
            PlanarRevoluteClearance(
                name, Frame.at(one, (*at, 0.0)), Frame.at(two, (*at, 0.0)), clearance=self.c
            )
            for name, one, two, at in (
                ("knee", crank, coupler, knee),
                ("hand", coupler, rocker, hand),
            )
        ]
        return assemble(Mechanism([crank, coupler, rocker], joints, "absolute"), pins)


def across(x):
    return np.array([-x[1], x[0]])


SHARP = LargestStep(contacts=FollowContacts(placed=1e-7))
"""Impacts placed so exactly that what is left is the error of the steps between."""


def simulated(bar, T, h, control=SHARP):
    """Return the same of a simulation by steps of at most h."""
    result = simulate(
        bar.dynamics,
        duration=T,
        steps=StepBounds(1e-10, h),
        scheme=Variational(),
        solver=Compiled(),
        control=control,
        progress=False,
    )
    assert result.completed, result.stop_reason
    assert not result.warnings
    q = result["q"].values[-1].reshape(3, 7)
    turns = 2 * np.arctan2(q[:, 6], q[:, 3])
    return np.array([*q[1, :2], *turns]), result["kinetic_energy"].values[-1]


POSTURES = [(2.0, 0.2, 2), (0.7, 0.25, 3), (4.0, 0.4, 2)]
"""Angle of the crank, duration, impacts; at 0.7 both contacts meet at 0.2775 s: motions branch."""


@pytest.mark.slow
@pytest.mark.parametrize(("angle", "T", "impacts"), POSTURES)
def test_a_four_bar_with_two_worn_pins(angle, T, impacts):
    """Of second order in h across impacts, sliding and lifting off."""
    bar = FourBar(CLEARANCE, angle)
    exact, energy, met = bar.exact(T)
    assert len(met) == impacts
    sizes = (4e-4, 2e-4, 1e-4)
    off = []
    for h in sizes:
        end, kinetic = simulated(bar, T, h)
        off.append(np.abs(end - exact).max())
        assert abs(kinetic - energy) < 3e-5 * energy
    assert off[-1] < 1.5e-6
    assert np.log2(off[0] / off[-1]) / 2 > 1.6, off


@pytest.mark.slow
def test_impacts_are_placed_as_exactly_as_is_asked():
    bar = FourBar(CLEARANCE, 2.0)
    exact, energy, _ = bar.exact(0.05)
    end, kinetic = simulated(bar, 0.05, 2e-4, LargestStep(contacts=FollowContacts(placed=3e-5)))
    assert end == pytest.approx(exact, abs=1e-5)
    assert kinetic == pytest.approx(energy, rel=1e-4)
