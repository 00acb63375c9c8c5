"""Costs of a motion whatever drives it: time, accelerations, jerk."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from nsopt.trajectory.costs.base import Cost
from nsopt.trajectory.moment import Moment


@dataclass(frozen=True, kw_only=True)
class Duration(Cost):
    """The time that the motion takes [s]."""

    def rate(self, m: Moment) -> ca.SX:
        del m
        return ca.SX(1)


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
        if m.jerk is None:
            raise ValueError(
                "Jerk needs accelerations that are functions of time, which this transcription "
                "has not: use Smoothness"
            )
        return ca.sumsqr(m.jerk)
