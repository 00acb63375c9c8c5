"""Homotopy schedules from a smooth program to one with complementarity, over a horizon.

Measured in docs/measured/contact_optima.md, "Schedules".
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import casadi as ca

from nsopt.mpcc import (
    ActiveSet,
    FischerBurmeister,
    Schedule,
    Scholtes,
    Settings,
    Solver,
    Tolerances,
)


class Stage(NamedTuple):
    """The homotopy parameters of one program, started from the solution of the stage before.

    Attributes
    ----------
    sigma : float
        Parameter of the relaxation: G H of complementary pairs is up to sigma, in scaled units.
    widening : float
        Factor on all clearances.
    normal_implicitness : float
        Weight, from 0 to 1, of the normal at the end of a step in the direction of its contact
        impulse; damps bouncing within clearances, with an error of first order.
    """

    sigma: float
    widening: float = 1.0
    normal_implicitness: float = 0.0


LAST = Stage(1e-8)
"""The last stage, without widening and damping (normal_implicitness)."""

LARGEST_END = 1e-6
"""Largest sigma of a last stage: with more, gap times force is not zero within tolerances."""

STRAIGHT: Schedule = (Stage(1e-2), Stage(1e-4), Stage(1e-8))
"""Only sigma is reduced."""

FROM_AFAR: Schedule = tuple(Stage(sigma) for sigma in (10.0, 1e-1, 1e-3, 1e-5, 1e-8))
"""With sigma = 10 contacts that are open by ten typical openings may press: the ground first bears
what is above it, so that feet are lifted and put down elsewhere than in the guess."""

FROM_AFAR_SLOWLY: Schedule = tuple(
    Stage(sigma) for sigma in (10.0, 1.0, 1e-1, 1e-3, 1e-5, 1e-6, 1e-7, 1e-8)
)
"""The same with one more stage at the beginning, and the last ones by tenths: for walkers."""

GRADUAL: Schedule = (
    Stage(1e-2, normal_implicitness=1.0),
    *(Stage(1e-4, normal_implicitness=share) for share in (1.0, 0.5, 0.2)),
    *(Stage(sigma) for sigma in (1e-4, 1e-6, 1e-8)),
)
"""The damping is removed before sigma is reduced to its last value."""

FINE: Schedule = (
    *(Stage(sigma, normal_implicitness=1.0) for sigma in (1e-2, 1e-3, 1e-4)),
    *(Stage(1e-4, normal_implicitness=share) for share in (0.5, 0.2)),
    *(Stage(sigma) for sigma in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)),
)
"""`GRADUAL` in smaller steps, each a few iterations of a Newton method."""

WARM_START: Schedule = (Stage(1e-4), Stage(1e-6), Stage(1e-8))
"""From an earlier solution, most of whose contact modes stay."""

DAMPED_START: Schedule = (
    Stage(1e-4, normal_implicitness=1.0),
    Stage(1e-4, normal_implicitness=0.2),
    *WARM_START,
)
"""The same within clearances, where a motion on another grid would rattle at first."""

FROM_NEARBY: Schedule = tuple(
    Stage(sigma) for sigma in (1e-1, 1e-2, *(10.0**-k for k in (3, 5, 6, 7, 8)))
)
"""From a motion on another grid, where contacts open by more than a clearance: interpolated between
its nodes, feet are a little off the ground, and contacts press in other steps."""

DAMPED: Schedule = (
    *(Stage(sigma, normal_implicitness=1.0) for sigma in (1e-2, 1e-4, 1e-6)),
    *(Stage(1e-8, normal_implicitness=share) for share in (1.0, 0.5, 0.2, 0.1, 0.05)),
    Stage(1e-8),
)
"""Motion within clearances is damped until sigma has its last value, to avoid rattling."""

WIDE: Schedule = (
    Stage(1e-2, 10.0, 1.0),
    Stage(1e-4, 10.0, 1.0),
    Stage(1e-4, 3.0, 1.0),
    *DAMPED[1:],
)
"""Clearances are ten times as large at first."""

SETTINGS = Settings(
    relaxation=Scholtes(),
    schedules=(GRADUAL, DAMPED, WIDE),
    tolerances=Tolerances(equality=1e-6, inequality=1e-6, bounds=1e-6),
    retries=0,
    active_set=ActiveSet(radius=1e-3, branches=10, time_limit=60.0),
)
"""The defaults of a `Solver` over a horizon, complementarity as inequalities."""

EQUATIONS = replace(SETTINGS, relaxation=FischerBurmeister(), schedules=(FINE,), active_set=None)
"""The defaults with complementarity as equations [Leyffer 2006, in Dempe, Kalashnikov (eds.),
Optimization with Multivalued Mappings]."""


def horizon_settings(solver: Solver) -> Settings:
    """Return the settings of a solve over a horizon, by default those above.

    Refuses options that are of single programs.
    """
    if solver.recovery is not None or solver.multi_start is not None:
        name = "recovery" if solver.recovery is not None else "multi_start"
        raise ValueError(
            f"{name} of Solver is of single programs: over a horizon give schedules, several are "
            "tried in turn, or call nsopt.trajectory.multi_start"
        )
    return solver.settings(EQUATIONS if solver.backend.prefers_equations else SETTINGS)


def check_complementarity(settings: Settings) -> None:
    """Refuse settings by which a motion may end with contacts that press at a distance."""
    if not settings.relaxation.penalty(*ca.vertsplit(ca.SX.sym("pair", 3))).is_zero():
        raise ValueError(
            f"{type(settings.relaxation).__name__} adds to the objective, which over a horizon is "
            "that of the costs alone, so contacts would press at a distance: give Scholtes()"
        )
    for stages in settings.schedules:
        if stages[-1][0] > LARGEST_END:
            raise ValueError(
                f"a schedule of Solver ends at sigma {stages[-1][0]:g}, where contacts press at a "
                f"distance: over a horizon let it end at {LAST.sigma:g}, at most {LARGEST_END:g}"
            )
