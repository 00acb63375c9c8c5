"""Time-stepping schemes: the equations of a step, for simulation and over a horizon."""

from nsopt.schemes.balance import Balance, Impulses
from nsopt.schemes.composition import Composition
from nsopt.schemes.contact_aligned import ContactAligned
from nsopt.schemes.contacts.energetic import EnergeticImpact
from nsopt.schemes.contacts.impact import Impact, NewtonImpact, PoissonImpact, SequentialImpact
from nsopt.schemes.moreau_jean import MoreauJean
from nsopt.schemes.node import Node, StepStart
from nsopt.schemes.one_step import HorizonStep, OneStep
from nsopt.schemes.paper import Closure, LinearisedClosure, PaperStep, TrueClosure
from nsopt.schemes.runge_kutta import ExplicitMidpoint, RungeKutta
from nsopt.schemes.scales import Scales
from nsopt.schemes.scheme import Scheme, UnifiedScheme
from nsopt.schemes.step import ContactEvent, Interval, Step, Transition
from nsopt.schemes.terms import internal, smooth_forces
from nsopt.schemes.variational import Variational

__all__ = [
    "Balance",
    "Closure",
    "Composition",
    "ContactAligned",
    "ContactEvent",
    "EnergeticImpact",
    "ExplicitMidpoint",
    "HorizonStep",
    "Impact",
    "Impulses",
    "Interval",
    "LinearisedClosure",
    "MoreauJean",
    "NewtonImpact",
    "Node",
    "OneStep",
    "PaperStep",
    "PoissonImpact",
    "RungeKutta",
    "Scales",
    "Scheme",
    "SequentialImpact",
    "Step",
    "StepStart",
    "Transition",
    "TrueClosure",
    "UnifiedScheme",
    "Variational",
    "internal",
    "smooth_forces",
]
