"""Attempts at steps by kernels: a step program as machine code and arrays, and a loop over it.

`Chain` calls a `StepKernel` for many attempts at once. Code is interpreted until machine code is
ready, which is made in the background.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from time import perf_counter, thread_time

import casadi as ca
import numpy as np

from nsopt.arrays import Array
from nsopt.kernels import (
    ChainCode,
    NewtonNumbers,
    PackedPrograms,
    compile_kernels,
    pack,
    run_chains,
    workspace_sizes,
)
from nsopt.leaves import INTERPRETED, Leaf, LeavesInTurn
from nsopt.mpcc import Newton
from nsopt.simulation.acceptance import StepEnd
from nsopt.simulation.control import StepControl
from nsopt.simulation.program import StepProgram
from nsopt.simulation.step_code import StepCode, column_leaf
from nsopt.simulation.step_rules import AT_H_MIN, OUTCOME, RECORDED, STRICTEST, StepRules

KernelCode = tuple[ChainCode, PackedPrograms, NewtonNumbers]
"""What kernels are given beside states."""

SHORT = 0.05
"""Seconds that a call of the kernels takes, about, while code is interpreted: after each call
machine code may take over."""


class StepKernel(StepRules):
    """Attempts at steps, as many as asked for in one call.

    Parameters
    ----------
    program : StepProgram
        Whose scales are parameters.
    control : StepControl
    newton : Newton
    states : bool
        Whether records tell the state after each attempt, too.

    Attributes
    ----------
    interpreted : float [s]
        Time of the processor that calls took so far while code was interpreted.
    """

    def __init__(
        self, program: StepProgram, control: StepControl, newton: Newton, *, states: bool = False
    ) -> None:
        compile_kernels()
        super().__init__(program, control, newton)
        ends = StepEnd(*program.ends[:-2])  # value and limit of the checks are behind
        if not self.looks_at_errors:
            ends = ends._replace(local_error=ca.SX(0))
        recorded = [getattr(ends, name) for name in RECORDED]
        sizes = [x.numel() for x in recorded]
        self._columns = dict.fromkeys(OUTCOME, 1) | dict(zip(RECORDED, sizes, strict=True))
        if states:
            self._columns["state"] = self.layout.nz
        self.record = sum(self._columns.values())
        value, limit = program.ends[-2:]
        judged = (ca.norm_inf(ends.motion), ends.kinetic_energy, value, program.checks.quick_limit)
        found = ca.vertcat(*recorded, *judged)
        self._step = StepCode.of(program.parts, program.given, found, limit)
        self._size, self._judged = (column_leaf(f) for f in (self.size, self.judge))
        self._checks, self._recorded = program.ends[-1].numel(), sum(sizes)
        self.interpreted = 0.0
        self._kept = self._step.addresses.kept
        self._packed = self._pack(self._kept)
        for leaf in self._leaves:
            _ = leaf.code  # is made now

    def __call__(self, z: Array, parameters: Array, attempts: int) -> tuple[Array, Array]:
        """Return the state after some attempts, or where the chain ended, and their records.

        Code that is used for long is made quicker, in the background.

        Raises
        ------
        ValueError
            For a state or parameters of another size.
        """
        state, known = (np.array(x, dtype=float)[None] for x in (z, parameters))
        self._check_sizes(state, known)
        records = np.empty((attempts, self.record))

        def run(code: KernelCode, part: range) -> int:
            here = records[part.start : part.stop]
            made: int = run_chains(*code, state, known, here)
            return made

        return state[0], records[: self._run(attempts, run)]

    def run_all(self, z: Array, parameters: Array, attempts: int, threads: int = 1) -> Array:
        """Return the states (n, nz) of many chains after some attempts, or where they ended.

        Parameters
        ----------
        z, parameters : (n, nz), (n, np)
        attempts : int
            Of each chain.
        threads : int
            Among which the chains are shared.

        Raises
        ------
        ValueError
            For states or parameters of another size.
        """
        states, known = (np.array(x, dtype=float) for x in (z, parameters))
        self._check_sizes(states, known)
        edges = np.linspace(0, len(states), min(threads, len(states)) + 1).astype(int).tolist()
        shares = [slice(*edge) for edge in pairwise(edges)]

        def run(code: KernelCode, part: range) -> int:
            def run_share(some: slice) -> None:
                records = np.empty((len(part), self.record))
                run_chains(*code, states[some], known[some], records)

            if len(shares) == 1:
                run_share(*shares)
            else:
                from concurrent.futures import ThreadPoolExecutor

                with ThreadPoolExecutor(len(shares)) as pool:
                    list(pool.map(run_share, shares))
            return len(part)

        self._run(attempts, run)
        return states

    def _run(self, attempts: int, run: Callable[[KernelCode, range], int]) -> int:
        """Make attempts in parts, each with the best code that is ready; return how many were made.

        ``run`` makes a part and returns how many, fewer where the chain ends.
        """
        made, count = 0, 1
        while made < attempts:
            code, level = self._code()
            if level != INTERPRETED:
                count = attempts
            part = range(made, min(made + count, attempts))
            begin, busy = perf_counter(), thread_time()
            new = run(code, part)
            seconds = perf_counter() - begin
            if level == INTERPRETED:
                self.interpreted += thread_time() - busy
            for leaf in self._leaves:
                leaf.spend(seconds)
            made += new
            if made < part.stop:
                break
            # As many as take `SHORT`, but at most ten times as many: the first calls are slow.
            count = 1 + int(count * min(SHORT / max(seconds, 1e-6), 10.0))
        return made

    def _check_sizes(self, states: Array, known: Array) -> None:
        sizes = (len(states), self.layout.nz), (len(states), self.layout.parameters)
        if (states.shape, known.shape) != sizes:
            raise ValueError(
                f"z and parameters have shapes {states.shape}, {known.shape}, not {sizes}"
            )

    @property
    def _leaves(self) -> list[Leaf | LeavesInTurn]:
        return [*self._step.leaves, self._size, self._judged]

    def _code(self) -> tuple[KernelCode, int]:
        """Return what kernels are given beside states, with the code that is ready; its level."""
        addresses = self._step.addresses
        if addresses.kept != self._kept:
            self._packed, self._kept = self._pack(addresses.kept), addresses.kept
        tables = self._packed._replace(code=np.array(addresses.programs, dtype=np.int64))
        code = self._chain(addresses.end, addresses.limits)
        return (code, tables, self._newton.numbers), addresses.level

    def _chain(self, end: int, limits: int) -> ChainCode:
        """Return what the loop needs, with the addresses of the end of a step and its limits."""
        d = self._program.dynamics
        size, judge = (x.code.evaluate for x in (self._size, self._judged))
        counts = (d.nq, d.nv, len(d.parameters), self.layout.unknowns)
        rows = (self._checks, self._recorded)
        return ChainCode(size, end, limits, judge, *counts, *rows, AT_H_MIN, STRICTEST)

    def _pack(self, kept: tuple[int, ...]) -> PackedPrograms:
        """Return the programs as arrays, without addresses, for code that keeps so many numbers."""
        solved = self._step.solved
        sizes = [workspace_sizes(x.square, x.known, k) for x, k in zip(solved, kept, strict=True)]
        programs = [pack(x.square, size) for x, size in zip(solved, sizes, strict=True)]
        return PackedPrograms(
            np.concatenate([np.zeros(0, dtype=np.int64), *programs]),
            np.cumsum([0, *(len(p) for p in programs)]),
            np.zeros(0, dtype=np.int64),
            self._program.checks.of_equations.astype(np.int64),
            max(map(sum, sizes), default=0),
        )
