"""Tests import through the doors of packages; what is behind them has a reason to be reached."""

import ast
from pathlib import Path

import pytest

from tests.test_layers import doors, modules

pytestmark = pytest.mark.unit

FOLDER = Path(__file__).resolve().parent
BEHIND = {
    "parts of the solvers that no user calls, tested by numbers of their own": """
        algebra.rank mpcc.backends.backend mpcc.horizon.block_functions mpcc.solve.branch
        mpcc.solve.functions mpcc.horizon.simple_bounds mpcc.backends.linear_solver
        mpcc.square.square_program mpcc.solve.stationarity mpcc.horizon.structured_branch
        trajectory.checks trajectory.conditions.distances trajectory.diagnosis.feasibility
        trajectory.search.tightening trajectory.smoothing.dry_friction
        trajectory.node_sample trajectory.phases.given_states trajectory.phases.implied
        trajectory.programs trajectory.refine
        trajectory.smoothing.schedules trajectory.sensitivity.chain_rule trajectory.task
        trajectory.transcription.base trajectory.transcription.collocation
        trajectory.transcription.lifting trajectory.transcription.resting
        trajectory.transcription.stepped
        """,
    "parts of leaves and kernels that no user calls": """
        kernels.plan kernels.views leaves.background leaves.instructions
        leaves.lane_interpreter leaves.leaf leaves.mapped leaves.operations leaves.program
        leaves.repeated leaves.routines leaves.structure leaves.turns
        """,
    "parts of mechanisms and steps that no user calls": """
        elements.range_of_motion.nearest elements.tangents mechanics.coordinates.absolute
        mechanics.equations.assembly mechanics.equations.symbolic mobility.screws robots.tables
        simulation.fallback_chain simulation.limits schemes.terms simulation.record.accepted_steps
        simulation.step_rules
        """,
    "where tests hold a run on, break it off or count its calls": """
        mpcc.backends.filter_sqp mpcc.backends.ipopt
        parallel.cluster simulation.check.check simulation.check.repetition
        simulation.checkpoint.hdf5 simulation.checkpoint.identity
        simulation.checkpoint.writer simulation.driver simulation.method simulation.run
        simulation.step_kernel sweep.job sweep.store trajectory.accuracy trajectory.other_grids
        """,
    "what pictures and commands are made of": """
        cli.choices cli.look cli.plot plots.bands plots.scenes.browser plots.figures.contact
        plots.impulses plots.lines plots.scenes.film plots.figures.programmed
        plots.figures.robot plots.figures.run plots.scenes.scene plots.style
        """,
}
"""Modules within packages by what tests need of them."""


def imported():
    """Yield (place, module, name or None) for each import of a module within a package."""
    known, exported = modules(), doors(modules())
    for file in sorted(FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                base = node.module or ""
                named = [(base, x.name) for x in node.names if x.name not in exported.get(base, ())]
                pairs = [(f"{m}.{x}", None) if f"{m}.{x}" in known else (m, x) for m, x in named]
            elif isinstance(node, ast.Import):
                pairs = [(x.name, None) for x in node.names]
            else:
                continue
            for module, name in pairs:
                inside = module.startswith("nsopt.") and module.count(".") > 1
                if inside and known[module].name != "__init__.py":
                    yield f"{file.relative_to(FOLDER)}:{node.lineno}", module, name


def doors_of(module, name, exported):
    """Return the packages that export a name of a module, also by way of another package."""
    found = {module}
    while more := {p for p, names in exported.items() if names.get(name) in found} - found:
        found |= more
    return sorted(found - {module})


def test_what_has_a_door_comes_through_it():
    exported = doors(modules())
    told = [
        f"{place}: import {name} from {' or '.join(way)}, not from {module}"
        for place, module, name in imported()
        if name and (way := doors_of(module, name, exported))
    ]
    assert not told, "\n".join(told)


def test_what_has_none_is_listed_with_a_reason():
    """Where a new test needs more, let the package export it, or state here why not."""
    listed = {f"nsopt.{x}" for names in BEHIND.values() for x in names.split()}
    reached = {module for _, module, _ in imported()}
    assert sorted(reached - listed) == []
    assert sorted(listed - reached) == [], "no longer reached"
