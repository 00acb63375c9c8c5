"""Impacts as contacts are compressed and expand, impulse by impulse, as one function.

The loop of the integration is a branch within branches: what is stated, and its machine code, is
that of one step, however many are taken, and steps after the end of an impact cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import casadi as ca

ROUNDS = (8, 8, 8, 8)  # factors of the number of steps of an integration at most
EQUAL_STEPS = 1024
"""Steps of an integration before they become longer: soft contacts beside stiff ones take many, and
energies are kept at any length."""
STEPS_TO_DOUBLE = 256  # steps in which they become twice as long after that
EVENTS = 3  # changes of one contact in a step: the sign of its rate, its slip, its end
NO_RATE = 1e-13  # of the largest rate or slip, that which counts as none
# Of the largest rate or slip, the speed of approach that counts as none: its energy, 1e-18 of that
# of the largest, is below round-off.
SLOWEST = 1e-9
STUCK = 1e-6  # of the largest rate or slip, the slip of a contact that sticks as an impact ends
SHALLOW = 0.1  # of the depth of an impact, that for which steps are short enough at least
LEAST_E = 1e-15  # e from which on it counts: by it is divided, and it has a derivative at zero
FAR, TINY = 1e100, 1e-100  # whose squares have finite derivatives
RESTITUTION, TANGENTIAL, FRICTION, STIFFNESS = range(4)
"""Columns of the numbers of contacts."""


@cache
def state_impact(
    owners: tuple[int, ...], contacts: int, exponent: float, steps: int
) -> ca.Function:
    """Return the impulses of an impact as a function of what is known before it.

    Inputs are the rates of gaps, then slips (ng + ns,) [m/s], the matrix (ng + ns, ng + ns) [1/kg]
    by which impulses change them, e, tangential e, mu and stiffness of each contact (ng, 4), and
    which are closed (ng,). The output is the impulses (ng + ns,) [N s].

    Parameters
    ----------
    owners : tuple of int
        The contact of each slip.
    contacts : int
        Their number, ng.
    exponent : float
        Of the force of a contact in its depth.
    steps : int
        In half a period of what swings fastest.
    """
    size = contacts + len(owners)
    rates, closed = ca.SX.sym("rates", size), ca.SX.sym("closed", contacts)
    G, numbers = ca.SX.sym("G", size, size), ca.SX.sym("numbers", contacts, 4)
    approach = ca.fmax(-closed * rates[:contacts], 0)
    masses = 1 / ca.fmax(ca.diag(G)[:contacts], TINY)
    sizes = ca.vertcat(
        SLOWEST * ca.norm_inf(rates),
        NO_RATE * ca.norm_inf(rates),
        ca.mmax(masses * approach**2) / 2,
    )
    known = [G, numbers, closed, sizes]
    integrate = _repeat(_state_step(owners, contacts, exponent, steps), 5, ROUNDS)
    none, open_ = ca.SX.zeros(size), ca.SX.zeros(contacts)
    on = ca.mmax(_find_pressed(open_, rates, closed, sizes))
    _, rates_after, _, impulses, taken = integrate(on, rates, open_, none, open_, *known)
    more = _give_back(owners, rates_after, impulses, taken, G, numbers, STUCK * ca.norm_inf(rates))
    rates_after, impulses = rates_after + G @ more, impulses + more
    on = ca.mmax(_find_pressed(open_, rates_after, closed, sizes))
    _, _, _, impulses, _ = integrate(on, rates_after, open_, impulses, taken, *known)
    return ca.Function("impact", [rates, G, numbers, closed], [impulses])


def _repeat(step: ca.Function, changing: int, rounds: Sequence[int]) -> ca.Function:
    """Return the function that takes a step again and again, while its first output is not zero.

    The first inputs of the step are its outputs, ``changing`` of them; the others stay.
    """
    inputs = [ca.SX.sym(step.name_in(k), *step.size_in(k)) for k in range(step.n_in())]
    same = ca.Function("same", inputs, inputs[:changing])
    for k, count in enumerate(rounds):
        choice = ca.Function.if_else(f"while_{k}", step, same).wrap()
        now = inputs[:changing]
        for _ in range(count):
            now = choice.call([now[0], *now, *inputs[changing:]], False, True)
        step = ca.Function(f"repeat_{k}", inputs, now)
    choice = ca.Function.if_else("while", step, same).wrap()
    now = choice.call([inputs[0], *inputs], False, True)
    return ca.Function("integrate", inputs, now)


def _find_pressed(stored: ca.SX, rates: ca.SX, closed: ca.SX, sizes: ca.SX) -> ca.SX:
    """Return which contacts are compressed, or begin to be, (ng,)."""
    approaches = rates[: closed.numel()] < -sizes[0]
    return closed * ca.logic_or(stored > 0, approaches)


def _state_step(owners: tuple[int, ...], contacts: int, exponent: float, steps: int) -> ca.Function:
    """Return a step: each contact is pushed in turn, and again in the opposite order.

    ``on`` is the number of the step, and 0 after the last.
    """
    size = contacts + len(owners)
    on, rates = ca.SX.sym("on"), ca.SX.sym("rates", size)
    stored, taken = ca.SX.sym("stored", contacts), ca.SX.sym("taken", contacts)
    impulses, G = ca.SX.sym("impulses", size), ca.SX.sym("G", size, size)
    numbers, closed = ca.SX.sym("numbers", contacts, 4), ca.SX.sym("closed", contacts)
    sizes = ca.SX.sym("sizes", 3)
    inputs = [on, rates, stored, impulses, taken, G, numbers, closed, sizes]

    stiffness = numbers[:, STIFFNESS]
    depth, reached = (_find_depth(x, stiffness, exponent) for x in (stored, sizes[2]))
    slopes = exponent * (depth**2 + (SHALLOW * reached) ** 2 + TINY) ** ((exponent - 1) / 2)
    pressed = _find_pressed(stored, rates, closed, sizes)
    fastest = ca.mmax(ca.fabs(G[:contacts, :contacts]) @ (pressed * stiffness * slopes))
    longer = 2 ** (ca.fmax(on - EQUAL_STEPS, 0) / STEPS_TO_DOUBLE)
    time = longer * ca.pi / (2 * steps) / ca.sqrt(ca.fmax(fastest, TINY))
    stored, taken, impulses = ca.SX(stored), ca.SX(taken), ca.SX(impulses)  # to be written to
    for k in (*range(contacts), *reversed(range(contacts))):
        rows = [k, *(contacts + i for i, owner in enumerate(owners) if owner == k)]
        press = _find_pressed(stored, rates, closed, sizes)[k]
        known = [rates[rows], stored[k], G[rows, rows], numbers[k, :].T, sizes, time]
        push, stored[k], loss = _branch_on_push(len(rows) - 1, exponent)(press, *known)
        rates, taken[k] = rates + G[:, rows] @ push, taken[k] + loss
        impulses[rows] = impulses[rows] + push
    # Contacts that jam keep what they store, at rest.
    own = ca.vertcat(closed, *(closed[k] for k in owners))
    moves = ca.fmax(ca.norm_inf(own * rates), ca.norm_inf(own * inputs[1])) > sizes[0]
    going = moves * ca.mmax(_find_pressed(stored, rates, closed, sizes))
    return ca.Function("step", inputs, [going * (on + 1), rates, stored, impulses, taken])


def _find_depth(stored: ca.SX, stiffness: ca.SX, exponent: float) -> ca.SX:
    """Return the depth of contacts at which they store an energy."""
    return ca.fmax((exponent + 1) * stored / ca.fmax(stiffness, TINY), TINY) ** (1 / (exponent + 1))


@cache
def _branch_on_push(slips: int, exponent: float) -> ca.Function:
    """Return `_state_push` behind a condition, without which nothing is done."""
    push = _state_push(slips, exponent)
    inputs = [ca.SX.sym(push.name_in(k), *push.size_in(k)) for k in range(push.n_in())]
    idle = [ca.SX.zeros(1 + slips), inputs[1], ca.SX(ca.Sparsity.dense(1, 1), 0)]
    choice = ca.Function.if_else("pressed", push, ca.Function("idle", inputs, idle)).wrap()
    on = ca.SX.sym("on")
    return ca.Function("push", [on, *inputs], choice.call([on, *inputs], False, True))


@cache
def _state_push(slips: int, exponent: float) -> ca.Function:
    """Return what a contact does in a time: its impulse, its energy after, what friction takes.

    By its force at half the time. The impulse is divided at most at `EVENTS` changes; until the
    next one the direction of friction is constant, and so rates are linear in the impulse, and
    energies quadratic: none is gained, whatever the length of the step.
    """
    rates, G = ca.SX.sym("rates", 1 + slips), ca.SX.sym("G", 1 + slips, 1 + slips)
    stored, numbers = ca.SX.sym("stored"), ca.SX.sym("numbers", 4)
    sizes, time = ca.SX.sym("sizes", 3), ca.SX.sym("time")
    inputs = [rates, stored, G, numbers, sizes, time]
    e = LEAST_E + (1 - LEAST_E) * numbers[RESTITUTION]
    depth = _find_depth(stored, numbers[STIFFNESS], exponent)
    deepening = -rates[0] * time * ca.if_else(rates[0] > sizes[1], 1 / e**2, 1)
    force = numbers[STIFFNESS] * ca.fmax(depth + deepening / 2, TINY) ** exponent
    left = ca.if_else(depth + deepening > 0, force * time, FAR)  # else it ends
    total, loss = ca.SX.zeros(1 + slips), ca.SX(0)
    for _ in range(EVENTS):
        along, most = _find_direction(rates, G, numbers[FRICTION], sizes[1], left)
        change = G @ along
        normal, rate = rates[0], change[0]
        still = ca.fabs(normal) <= sizes[1]
        turn = ca.if_else(ca.logic_and(normal * rate < 0, ca.logic_not(still)), -normal / rate, FAR)
        expands = ca.if_else(still, rate > 0, normal > 0)
        allowed = e**2 * stored
        square = normal**2 + 2 * rate * allowed
        root = ca.fmax(normal, 0) + ca.sqrt(ca.fmax(square, TINY))
        emptied = ca.logic_and(expands, square >= 0)
        end = ca.if_else(emptied, 2 * allowed / ca.fmax(root, TINY), FAR)
        length = ca.fmin(ca.fmin(left, most), ca.fmin(turn, end))
        work = length * (normal + rate * length / 2)
        after = ca.fmax(stored - work * ca.if_else(expands, 1 / e**2, 1), 0)
        stored = ca.if_else(end <= length, 0, after)
        if slips:
            mean = rates[1:] + change[1:] * length / 2
            loss -= length * ca.dot(along[1:], mean)
        rates, total = rates + change * length, total + along * length
        over = ca.logic_or(stored <= 0, turn <= length)  # or it is compressed anew: the next step
        left = ca.if_else(ca.logic_and(expands, over), 0, left - length)
    return ca.Function("push", inputs, [total, stored, loss])


def _find_direction(
    rates: ca.SX, G: ca.SX, mu: ca.SX, none: ca.SX, left: ca.SX
) -> tuple[ca.SX, ca.SX]:
    """Return the impulse (1 + slips,) per normal impulse, and up to what of that it stays.

    Friction acts against the slip half way, and no further than it takes energy; the slip at which
    it is smallest, in the plane zero, is an end. What sticks goes on where its impulse is within
    the cone, else the slip begins along the one that would hold it.
    """
    slips = rates.numel() - 1
    if not slips:
        return ca.SX(1), ca.SX(FAR)
    slip, g, T = rates[1:], G[1:, 0], G[1:, 1:]
    speed = _find_length(slip)
    holds = -_solve_symmetric(T, g)
    size = _find_length(holds)
    held = holds * ca.fmin(1, mu / ca.fmax(size, TINY))

    def find_least(friction: ca.SX) -> ca.SX:
        change = g + T @ friction
        along = -ca.dot(slip, change)
        part = along / ca.fmax(ca.dot(change, change), TINY)
        return ca.if_else(ca.logic_and(along > 0, mu > 0), part, FAR)

    now = slip / ca.fmax(speed, TINY)
    friction, most = -mu * now, find_least(-mu * now)
    if slips > 1:
        reach = ca.fmin(left, most)
        half = slip + ca.if_else(reach < FAR, reach / 2, 0) * (g + T @ friction)
        ahead = half / ca.fmax(_find_length(half), TINY)
        friction = -mu * ca.if_else(ca.dot(ahead, now) > 0, ahead, now)
        power = ca.dot(friction, g + T @ friction)
        limit = ca.if_else(power > 0, -2 * ca.dot(friction, slip) / ca.fmax(power, TINY), FAR)
        most = ca.fmin(find_least(friction), limit)
    slides = speed > none
    along = ca.if_else(slides, friction, held)
    return ca.vertcat(1, along), ca.if_else(slides, most, FAR)


def _find_length(x: ca.SX) -> ca.SX:
    """Return the length of a vector, with a derivative at zero."""
    return ca.sqrt(ca.sumsqr(x) + TINY)


def _solve_symmetric(T: ca.SX, g: ca.SX) -> ca.SX:
    """Return T^-1 g of one or two rows."""
    if T.numel() == 1:
        return g / ca.fmax(T, TINY)
    det = T[0, 0] * T[1, 1] - T[0, 1] * T[1, 0]
    return ca.vertcat(T[1, 1] * g[0] - T[0, 1] * g[1], T[0, 0] * g[1] - T[1, 0] * g[0]) / ca.fmax(
        det, TINY
    )


def _give_back(
    owners: tuple[int, ...],
    rates: ca.SX,
    impulses: ca.SX,
    taken: ca.SX,
    G: ca.SX,
    numbers: ca.SX,
    slow: ca.SX,
) -> ca.SX:
    """Return the impulses (ng + ns,) of tangential restitution, of contacts slower than ``slow``.

    Each along its friction up to the cone, and until e^2 of what friction has taken is back.
    """
    more, contacts = ca.SX.zeros(impulses.numel()), taken.numel()
    for k in sorted(set(owners)):
        rows = [contacts + i for i, owner in enumerate(owners) if owner == k]
        slip, friction, e = rates[rows], impulses[rows], numbers[k, TANGENTIAL]
        size = _find_length(friction)
        along = friction / ca.fmax(size, TINY)
        room = ca.fmax(numbers[k, FRICTION] * impulses[k] - size, 0)
        allowed, square = e**2 * ca.fmax(taken[k], 0), along.T @ G[rows, rows] @ along
        rate = ca.dot(along, slip)
        root = rate + ca.sqrt(rate**2 + 2 * square * allowed + TINY)
        push = ca.fmin(room, 2 * allowed / ca.fmax(root, TINY))
        push = ca.if_else(ca.logic_and(_find_length(slip) <= slow, e > 0), push, 0) * along
        more[rows] = push
        rates = rates + G[:, rows] @ push
    return more
