"""Costs of a motion whatever drives it: time, steps, accelerations, jerk."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from nsopt.trajectory.costs.base import Cost
from nsopt.trajectory.moment import Moment


@dataclass(frozen=True, kw_only=True)
class Duration(Cost):
    """The time that the motion takes [s]."""

    def rate(self, m: Moment) -> ca.SX:
        del m
        return ca.SX(1)


@dataclass(frozen=True, kw_only=True)
class EvenSteps(Cost):
    """Integral of (h / mean h - 1)^2 [s], where sizes of steps are free and the duration is given.

    A motion says little of the steps that describe it, and long ones err: without this cost they
    err in its favour.
    """

    def rate(self, m: Moment) -> ca.SX:
        if m.acting is None or m.acting.after.is_zero():  # no step follows the last node
            return ca.SX(0)
        if m.acting.even.is_constant() and np.isnan(float(m.acting.even)):
            raise ValueError("EvenSteps needs a Horizon of given duration: leave it out")
        return (m.acting.after / m.acting.even - 1) ** 2


@dataclass(frozen=True, kw_only=True)
class Smoothness(Cost):
    """Integral of squared accelerations of the coordinates [rad^2/s^3 or m^2/s^3]."""

    def rate(self, m: Moment) -> ca.SX:
        return ca.sumsqr(m.a)


@dataclass(frozen=True, kw_only=True)
class Jerk(Cost):
    """Integral of squared derivatives of the accelerations [rad^2/s^5 or m^2/s^5].

    Of motions without contacts alone, where accelerations have a derivative.
    """

    def rate(self, m: Moment) -> ca.SX:
        if m.acting is not None:
            raise ValueError(
                "Jerk needs accelerations that are functions of time, which a motion in the steps "
                "of a scheme has not: use Smoothness"
            )
        return ca.SX(0)

    def over(self, a: tuple[ca.SX, ca.SX, ca.SX], h: ca.SX) -> ca.SX:
        first, middle, last = a
        ends = (-3 * first + 4 * middle - last, first - 4 * middle + 3 * last)
        between = last - first
        return (ca.sumsqr(ends[0]) + 4 * ca.sumsqr(between) + ca.sumsqr(ends[1])) / (6 * h)
