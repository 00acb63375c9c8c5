"""The first half of a step of `Variational`: its velocity leads bodies to the end of the step."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Mpcc
from nsopt.schemes.balance import Balance, Impulses
from nsopt.schemes.contacts.friction import (
    SLOW,
    Friction,
    differentiate_mean_slip,
    find_mean_slip,
    find_turn_from_start,
)
from nsopt.schemes.contacts.modes import StepContacts, find_step_contacts
from nsopt.schemes.contacts.static_friction import Grip
from nsopt.schemes.contacts.walls import WallFigures, measure_depth
from nsopt.schemes.errors import Errors
from nsopt.schemes.node import StepStart
from nsopt.schemes.one_step import SimulatedStep
from nsopt.schemes.scales import Scales
from nsopt.schemes.step import Step, Transition
from nsopt.schemes.terms import (
    ReactionLoads,
    advance_coordinates,
    average_walls,
    average_walls_over,
    find_mean_joint_friction,
    rolling_over,
)


def state_first_half(
    mpcc: Mpcc, d: Dynamics, start: StepStart, h: ca.SX, scales: Scales, closed: float
) -> Step:
    """State the first half of a step, and before it what static friction holds.

    Contacts count as closed up to ``closed`` times their typical opening.
    """
    node = start.node(d)
    contacts = find_step_contacts(d, node, h, closed)

    def try_start(program: Mpcc, coefficients: ca.SX) -> ca.SX:
        _, slip = _state_once(SimulatedStep.of(program, d, node, h, scales), contacts, coefficients)
        return slip

    grip = Grip.at_start(mpcc, d, node, contacts.lasting, scales, try_start)
    one = SimulatedStep.of(mpcc, d, node, h, scales)
    transition, _ = _state_once(one, contacts, grip.coefficients)
    step, (half,) = Step.of(transition, h, Errors(ca.SX(0), ca.SX(0))), transition.balances
    lam = half.impulses.lam
    return replace(
        step,
        frozen=lam * contacts.lasting,
        walls=WallFigures(measure_depth(half, lam, h)),
        grip=grip,
    )


def _state_once(
    one: SimulatedStep, contacts: StepContacts, coefficients: ca.SX
) -> tuple[Transition, ca.SX]:
    """State the half with coefficients of friction (nd,); return it and its mean slip (ns,)."""
    d, mpcc, start, h, scales = one.dynamics, one.mpcc, one.start, one.h, one.scales
    v, M = one.velocity("v_half", mean=True), d.mass(start.q, start.p)
    mu = one.impulse_of_joints("joint_half")
    friction = Friction(mpcc, d, scales)
    lam = one.impulse_of_contacts("contact_half")
    friction.add()
    on, moving = contacts.lasting, average_walls_over(d, start, h)
    lasting = lam * on
    # The mean slip: zero where the contact does not move over what carries it. Friction acts
    # against its direction at the start, in the second half against that at the end.
    q = advance_coordinates(d, start, h, v)
    mean_slip = find_mean_slip(d, start, h, v, q)
    change = h * d.retract_matrix(h * v)  # (nv, nv) of displacements at the end with v
    slip_slopes = {"v_half": differentiate_mean_slip(d, start, h, v, q, change)}
    turn = find_turn_from_start(d, start, h, SLOW * ca.SX(scales.speed))
    slip = friction.impulse(
        moving, v, lasting, on, h / 2, mean_slip, turn, coefficients, slip_slopes
    )
    loads = ReactionLoads(h / 2, v - start.v, mu, lasting, slip)
    twists = d.twists(start.q, v, h, start.p)
    half = Balance.of(
        d,
        replace(average_walls(start, moving), W=contacts.D),
        (start.v, v),
        h / 2,
        d.applied(start.t, start.q, v, start.p),
        Impulses(mu, lam, slip),
        M=M,
        acting=v,
        joint_friction=h / 2 * find_mean_joint_friction(d, start, start.at, v, h, loads),
        momenta=(M @ start.v, d.momentum(start.q, twists, h, start.p)),
    )
    end = one.end(q, v)
    mpcc.equal("motion", half.residual, scale=scales.impulse)
    slopes = {"v_half": d.closure_matrix(*end.at) @ change}
    one.close("closure", d.closure(*end.at), scale=scales.time, slopes=slopes)
    one.equal("rolling", rolling_over(d, start, h, v))
    friction.state()
    sizes, slopes = (scales.gap, scales.impulse), {"v_half": end.W.T @ change}
    labels = d.contact_names
    mpcc.complement("contact", end.gap, lam, scale=sizes, labels=labels, slopes=slopes)
    mpcc.least_norm(("contact_half", "joint_half"))
    return Transition((half,), end), mean_slip
