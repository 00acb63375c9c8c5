"""Optimal motions of a mechanism: `optimize`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from nsopt.interrupt import guard, interruptible
from nsopt.mechanics import Dynamics, redundancy_note
from nsopt.mpcc import Solver
from nsopt.result import Result
from nsopt.schemes import Scheme
from nsopt.simulation import Check
from nsopt.trajectory.accuracy import GridAccuracy
from nsopt.trajectory.conditions import Condition
from nsopt.trajectory.costs import Cost
from nsopt.trajectory.exact import PLAN
from nsopt.trajectory.guesses import Guess
from nsopt.trajectory.horizon import Horizon
from nsopt.trajectory.other_grids import IF_QUICK, refuse_other_checks
from nsopt.trajectory.prepared import PreparedOptimization
from nsopt.trajectory.search import Plan, StatedProgram
from nsopt.trajectory.smoothing.schedules import horizon_settings


def optimize(
    dynamics: Dynamics,
    horizon: Horizon,
    costs: Sequence[Cost],
    conditions: Sequence[Condition],
    guess: Guess,
    *,
    inputs: Sequence[str] = (),
    parameters: Mapping[str, float] | None = None,
    scheme: Scheme | None = None,
    solver: Solver | None = None,
    plan: Plan[StatedProgram] = PLAN,
    accuracy: float | None = None,
    verify: bool = False,
    check: Check | None = IF_QUICK,
    title: str = "",
    progress: bool = True,
) -> Result:
    """Return the motion of least cost that keeps all conditions.

    Parameters
    ----------
    dynamics : Dynamics
        Joints with an `Actuator` are driven by the force that the motion needs, the others by none.
    horizon : Horizon
        Duration, given or free within bounds, and number of steps.
    costs : sequence of Cost
        Their weighted sum is minimized.
    conditions : sequence of Condition
    guess : Guess
        The initial motion. `Earlier` with the same grid starts from its multipliers too.
    inputs : sequence of str
        Parameters of the mechanism that are chosen anew at every moment.
    parameters : mapping of name to float, optional
        Values of the others.
    scheme : Scheme, optional
        The equations of each step. By default `Variational` where the mechanism has contacts,
        clearances, loops or free bodies; else collocation: polynomials between nodes, forces by
        inverse dynamics, which is more exact and faster.
    solver : Solver, optional
        By default IPOPT, along the schedules `GRADUAL`, `DAMPED` and `WIDE` where there are
        contacts, before them `FROM_AFAR` where none of these is in a bore; `Sqp` along `FINE`.
    plan : Plan
        The strategies that are tried, in order; ``search`` in ``attrs`` (JSON) has those that ran.
        ``PLAN.without(OtherStarts)`` is the default one without one of them, `IN_STEPS` the one
        that leaves an optimum in the steps of a scheme.
    accuracy : float, optional
        The error that the objective and the motion may have, over their sizes. The optimum is
        found on the stated grid, then on twice as many steps from the one before, until it is met
        by the errors seen; ``accuracy_steps`` in ``attrs`` is the number of steps by which it can
        be repeated. A motion that finer grids do not bring nearer to another, as costs do not
        decide it, need not be met: the summary tells.
    verify : bool
        Whether to simulate the optimum from its start in steps four times as short, under its
        inputs and drives alone: ``resimulated`` (time, q) and in ``attrs``
        ``resimulated_defect`` [m, rad], its largest distance from the optimum,
        ``resimulated_until`` [s], and ``resimulated_compile_time`` [s], in which the code of its
        steps was made or found, beside ``resimulated_seconds`` of the simulation. Where it
        departs is a WARNING of the summary.
    check : Check or None
        Whether to solve it again, from itself, on half and on twice as many steps, which tells by
        how much it is off by its grid: by default where these solves take at most five seconds,
        ``Check(seconds=60)`` where they take a minute. ``objective_error`` and ``objective_order``
        in ``attrs`` (NaN where no order was seen, as where limits become active between nodes),
        ``border_errors`` [s] of phases of contact, ``error_motion`` as of a run, ``error_q``,
        ``error_v``, ``error_drive`` and ``error_input`` at each node. ``error_unknown`` says why,
        where there are none. The optimum itself is the same with and without.
    title : str
        By default the name of the mechanism.
    progress : bool
        Whether to say on standard error, before the solve, which rows of the ideal joints are
        redundant.

    An optimum through contact, and without a ``scheme`` also one of closed loops, wheels or bodies
    that turn freely, is found in steps first, and then solved again in the
    sequence of its contact modes, by `ExactContacts`: the times of changes are free, forces and
    positions polynomials between them, impacts where phases meet. Steps are of equal length in
    each phase only, and ``scheme`` in ``attrs`` is that of the phases. ``contact_sequence`` says
    in words what contacts do and when, ``borders`` [s] where phases begin and end,
    ``objective_in_steps`` what it cost before. ``not_exact`` says why a motion stayed in steps,
    where it did: bores whose gaps close apart from each other and costs of contact forces, for two.

    Coordinates that no cost depends on move as smoothly as they can, by a small `Smoothness` that
    is no part of the objective; ``tie_breaker`` in ``attrs`` names them. In motions by polynomials
    a cost of bends within steps goes with it, ``step_bend``.

    In motions by polynomials the sign of dry friction of driven joints is smoothed up to a speed
    that follows from the grid, ``friction_smoothed`` in ``attrs``, but only in the program and its
    objective: ``drive``, limits between nodes, samples and ``exact_cost`` have Coulomb's sign,
    which is zero at rest. Where smoothing leaves out more than a tenth of the cost, joints that
    creep are made to rest, and friction is exact in the program too: ``friction_modes`` in
    ``attrs``. Where one or two joints rub, their rests and slides are then phases, their times
    free, as by `ExactContacts` through contact.

    Where a step of such a motion, reintegrated under the same forces, does not end at the next
    node, it is solved again with a small cost of second differences of accelerations within steps,
    with the weight ``step_bend`` in ``attrs``, no part of the objective either.

    In motions by polynomials compliant contacts act at a distance at first, which is reduced to
    zero, so that the guess need not touch.

    Returns
    -------
    Result
        With ``objective``, ``status``, ``drive`` (time, v) [N m, N], ``acceleration``, ``input``,
        ``contact_force``, ``normal_force``, and in ``attrs``

        - ``stationarity``: in a line what kind of point it is, or why that is not found out;
        - ``detailed_cost``: the share of each cost; ``guess_cost``: the cost of the guess, where
          it has forces;
        - ``limits_exceeded``: of motions by polynomials, how far limits that hold all along are
          exceeded within steps, over their size; ``limits_tightened``: how often, to keep them;
        - ``defect``: the largest distance by which a step, reintegrated under the same forces,
          misses its node [m, rad] (NaN with a ``scheme``, where ``verify`` checks the motion).

        ``drive[k]`` and ``input[k]`` are those at node k; where an impact or a change of contact
        is at node k, those after it. Between nodes they are polynomials in motions by polynomials
        and in phases, which `Result.sample` gives; linear to node k + 1 by steps of `Variational`;
        held to node k + 1 by those of `MoreauJean`, `ContactAligned` and `Composition`, whose last
        node repeats the one before.

        ``normal_force[k]`` is that at node k. ``contact_force[k]`` is the mean over the step from
        node k - 1 to node k, impacts at its end included; by steps of `Variational`, whose forces
        act at nodes, that of node k - 1. There is none at k = 0.

        If no solution was found ``completed`` is False, the motion is the last iterate, and
        ``stop_reason`` says what is violated and where; or that all conditions are kept, and some
        branch of the contacts has less cost. So it is after Ctrl-C or SIGTERM, ``stop_reason``
        then beginning with "interrupted".

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        Before anything is solved: a mechanism, cost, condition or guess that does not fit,
        conditions that cannot be met together, or costs of which none depends on the motion.
    KeyboardInterrupt
        After Ctrl-C or SIGTERM before the solver has begun, after a second one, and in place of the
        optimization that would follow an interrupted one in the same script or cell.
    """
    refuse_other_checks(check)
    if accuracy is not None:
        goal = GridAccuracy(accuracy)
        again = partial(
            optimize,
            dynamics,
            costs=costs,
            conditions=conditions,
            inputs=inputs,
            parameters=parameters,
            scheme=scheme,
            solver=solver,
            plan=plan,
            verify=verify,
            check=None,
            title=title,
        )
        limit = horizon_settings(solver or Solver()).tolerances.rows

        def solve(grid: Horizon, start: Guess) -> Result:
            return again(horizon=grid, guess=start, progress=progress and start is guess)

        with guard():  # an interrupt is heard by each solve
            return goal.reach(solve, horizon, guess, limit, dynamics, dynamics.values(parameters))
    prepared = PreparedOptimization(
        dynamics,
        horizon,
        costs,
        conditions,
        guess,
        inputs=inputs,
        parameters=parameters,
        scheme=scheme,
        solver=solver,
        plan=plan,
        often=False,  # solved once
    )
    if progress:
        with interruptible():
            q = prepared.guess.trajectory(np.linspace(0, 1, 3), horizon.bounds, inputs).q[0]
            if note := redundancy_note(dynamics, 0.0, q, dynamics.values(parameters)):
                print(f"note: {note}", file=sys.stderr)
    return prepared.solve(verify=verify, check=check, title=title)
