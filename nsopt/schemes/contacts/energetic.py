"""Restitution of energy: impacts by compression of all contacts at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from nsopt.checks import whole
from nsopt.mechanics import Dynamics
from nsopt.schemes.balance import Impulses
from nsopt.schemes.contacts.compression import state_impact
from nsopt.schemes.contacts.friction import find_slip
from nsopt.schemes.contacts.impact import IncrementalImpact
from nsopt.schemes.contacts.walls import respond
from nsopt.schemes.node import Node
from nsopt.schemes.terms import find_slopes


@dataclass(frozen=True)
class EnergeticImpact(IncrementalImpact):
    """Restitution of energy: contacts are compressed, and give back e^2 of the energy stored.

    All closed contacts have forces (K_j depth_j^exponent) along their normals, however short they
    act: bodies do not move meanwhile, so that only ratios of K_j, `ContactLaw.stiffness`, count.
    With p_j the impulse, E_j the energy stored, and dg_j the rate of the gap,

        dp_j / dp_i = (K_j / K_i)^(1/(x+1)) (E_j / E_i)^(x/(x+1)),     x the exponent,
        dE_j = -dg_j dp_j    while dg_j < 0,     dE_j = -dg_j dp_j / e_j^2    while dg_j > 0,

    which is the multiple-impact law of Liu, Zhao and Brogliato [2008, Proc. R. Soc. A 464, 3193];
    with one contact that of Stronge [1990, Proc. R. Soc. A 431, 169]. Friction is Coulomb's at
    each instant, of the slip there: what slides may stick or go back within the impact, and turn in
    space. As the last force is gone, contacts that stick give back, along their friction and within
    mu p_j, tangential_restitution^2 of the energy that it took; a ball's slip is then turned round
    [Walton 1993]. What that presses together is an impact again.

    No energy is gained, with any e up to 1, any mu and tangential restitution of each contact: of
    T + sum E_j the change is (1 - 1/e_j^2) dg_j dp_j <= 0 of those that expand, 0 of others, and
    that by friction, which takes energy; sum E_j is zero before, and not negative after. What is
    given back along the surfaces is at most what friction has taken before. Each step of the
    integration keeps this balance, so that it holds at any number of them.

    One contact in the plane is exact. Otherwise the error falls with the square of the length of
    the steps; of three equal balls on linear springs it is 5e-5 of the speed of the first. Steps
    get longer after 1,024 (`compression.EQUAL_STEPS`), as soft contacts beside ones 1e4 times as
    stiff take them. After 4,096 (`compression.ROUNDS`), as of contacts that jam, what is stored is
    lost, and what still approaches comes to rest. Static friction above the kinetic one,
    and resistance to rolling and spinning, do not act within the impact. Horizons are refused.

    Parameters
    ----------
    exponent : float
        Of forces in depths, 1 or more; 3/2 is Hertz's.
    steps : int
        Steps in half a period of the contact that swings fastest.
    """

    takes_compression: ClassVar[bool] = True

    exponent: float = 1.5
    steps: int = 50

    def __post_init__(self) -> None:
        if not self.exponent >= 1:
            raise ValueError(
                f"exponent of EnergeticImpact must be 1 or more, got {self.exponent}: 1.5 is "
                "Hertz's"
            )
        whole("steps of EnergeticImpact", self.steps)

    def integrate(self, d: Dynamics, node: Node, closed: ca.SX, restitution: ca.SX) -> Impulses:
        at, p, none, count = node.at, node.p, Impulses.zero(d), restitution.numel()  # t, q, p; ng
        slopes = find_slopes(d, at)
        normals = node.W / ca.repmat(slopes.T, d.nv, 1)
        slides = [x for x in d.drags if not x.turns]  # without rolling and spinning
        slips, owners = (
            [k for x in slides for k in x.slips],
            [x.contact for x in slides for _ in x.slips],
        )
        directions = ca.horzcat(normals, d.slip_matrix(*at)[:, slips])
        joints = ca.vertcat(d.closure_matrix(*at), d.nonholonomic_matrix(*at))
        # [1/kg] rates of gaps and slips by impulses: how readily contacts give way to these.
        compliance = directions.T @ respond(d.mass(*at[1:]), joints, directions)
        # In the order of the columns of `compression`: `RESTITUTION` and so on.
        numbers = (restitution, d.tangential_restitution(p), d.friction(p), d.stiffness(p))
        slip = find_slip(d, at, node.v)
        rates = ca.vertcat(node.gap_rate(node.v) / slopes, *(slip[k] for k in slips))
        impact = state_impact(tuple(owners), count, float(self.exponent), int(self.steps))
        impulses = impact(
            *(ca.densify(x) for x in (rates, compliance, ca.horzcat(*numbers), closed))
        )
        tangential = ca.SX(none.slip)
        for k, row in enumerate(slips):
            tangential[row] = impulses[count + k]
        return none._replace(lam=impulses[:count] / slopes, slip=tangential)
