"""Every relaxation, backend, scheme and step control: one row or more each."""

import nsopt as ns
from nsopt.mpcc import Daqp, IpoptQp, Osqp, Piqp, Proxqp, Qrqp
from nsopt.schemes import PoissonImpact, Scheme

DOWN = tuple(10.0**-k for k in range(11))
# Each with a schedule of sigma that suits it.
RELAXATIONS = [
    (ns.Scholtes(), DOWN),
    (ns.ScholtesAggregated(), DOWN),
    (ns.FischerBurmeister(), DOWN),
    (ns.NaturalResidual(), DOWN),
    (ns.ExactPenalty(), (0.1, 0.01)),
]
BACKENDS = [ns.Ipopt(), ns.Sqp()]
QP_SOLVERS = [Qrqp(), Daqp(), Piqp(), Osqp(), Proxqp(), IpoptQp()]

SCHEMES = [
    ns.PaperStep(),
    ns.PaperStep(explicit=True),
    ns.PaperStep(renormalise=False),
    ns.PaperStep(closure=ns.LinearisedClosure()),
    ns.PaperStep(closure=ns.LinearisedClosure(), renormalise=False, explicit=True),
    ns.PaperStep(finds_h=False),
    ns.Variational(),
    ns.MoreauJean(),
    ns.MoreauJean(project=True),
    ns.MoreauJean(theta=1.0),
    ns.Composition(),
    ns.ContactAligned(),
    ns.ContactAligned(impact=PoissonImpact()),
    ns.ContactAligned(impact=ns.SequentialImpact()),
    ns.ContactAligned(impact=ns.EnergeticImpact()),
]


def _steps_like(scheme: Scheme) -> tuple[object, ...]:
    return type(scheme), scheme.chooses_h, getattr(scheme, "project", False)


KINDS = list({_steps_like(x): x for x in reversed(SCHEMES)}.values())[::-1]
"""The first of each kind, for tests whose subject is not the form of a scheme."""
SMOOTH_SCHEMES = [ns.RungeKutta(), ns.ExplicitMidpoint()]  # for mechanisms without contacts
CONTROLS = [
    ns.LargestStep(),
    ns.ErrorControl(1e-6),
    ns.LargestStep(contacts=ns.FollowContacts(0.01)),
]
