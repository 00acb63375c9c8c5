"""The method of a run: scheme, solver, control of h and acceptance."""

from __future__ import annotations

from dataclasses import dataclass

from nsopt.mechanics import Dynamics
from nsopt.mpcc import Piqp, Solver, Sqp
from nsopt.schemes import Scheme, Variational
from nsopt.simulation.acceptance import Acceptance
from nsopt.simulation.chain import Compiled
from nsopt.simulation.control import LargestStep, StepControl

LARGE = 60
"""Unknowns of a step from which on the active-set solver of quadratic programs takes longer than
the interior-point one. Measured: as long at 35 to 60, twice as long at 80 to 160."""

OPTIONS = {  # name -> type, example
    "scheme": (Scheme, "Variational()"),
    "solver": (Solver | Compiled, "Compiled()"),
    "control": (StepControl, "ErrorControl(1e-6)"),
    "acceptance": (Acceptance, "Acceptance()"),
}


@dataclass(frozen=True)
class Method:
    """The options of `simulate` for each step.

    Raises
    ------
    TypeError
        If one of them is something else.
    """

    scheme: Scheme
    solver: Solver | Compiled
    control: StepControl
    acceptance: Acceptance

    def __post_init__(self) -> None:
        for name in OPTIONS:
            _check_kind(name, getattr(self, name))

    @classmethod
    def of(
        cls,
        scheme: Scheme | None,
        solver: Solver | Compiled | None,
        control: StepControl | None,
        acceptance: Acceptance | None,
    ) -> Method:
        """Return a method, with the defaults of `simulate` for what is None."""
        scheme = Variational() if scheme is None else scheme
        _check_kind("scheme", scheme)
        if solver is None:
            solver = Solver() if scheme.chooses_h else Compiled()
        return cls(
            scheme,
            solver,
            LargestStep() if control is None else control,
            Acceptance() if acceptance is None else acceptance,
        )

    def first_solver(self, dynamics: Dynamics) -> Solver | Compiled:
        """Return the solver that is tried first: a scheme that chooses h itself is not chained.

        Its steps are quadratic programs. The active-set solver of these fails where joints are
        redundant, and is slow where there are many unknowns.
        """
        if self.scheme.chooses_h and isinstance(self.solver, Compiled):
            d = dynamics
            unknowns = 1 + d.nq + len(d.closure_names) + len(d.contact_names)
            by_interior_point = d.redundant or unknowns > LARGE
            return Solver(backend=Sqp(qp=Piqp()) if by_interior_point else Sqp())
        return self.solver

    def solver_name(self, dynamics: Dynamics) -> str:
        """Return the name of the solver that is tried first."""
        solver = self.first_solver(dynamics)
        return type(solver.backend if isinstance(solver, Solver) else solver).__name__

    @property
    def own_control(self) -> StepControl | None:
        """The control of h, where the scheme does not choose h itself."""
        return None if self.scheme.chooses_h else self.control


def _check_kind(name: str, value: object) -> None:
    kind, example = OPTIONS[name]
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be an object such as {example}, got {value!r}")
