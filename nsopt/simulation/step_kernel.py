"""Attempts at steps by kernels: a step program as machine code and arrays, and a loop over it."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nsopt.kernels import (
    ChainCode,
    NewtonNumbers,
    PackedPrograms,
    compile_kernels,
    pack,
    run_chains,
    workspace_sizes,
)
from nsopt.leaves import Leaf, LeavesInTurn
from nsopt.mpcc import Newton
from nsopt.simulation.acceptance import StepEnd
from nsopt.simulation.control import StepControl
from nsopt.simulation.program import StepProgram
from nsopt.simulation.step_code import StepCode, column_leaf
from nsopt.simulation.step_rules import AT_H_MIN, OUTCOME, RECORDED, STRICTEST, StepRules

Array = NDArray[np.float64]

REPAID = 0.5
"""Seconds of steps after which quicker machine code is begun."""


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
    """

    def __init__(
        self, program: StepProgram, control: StepControl, newton: Newton, *, states: bool = False
    ) -> None:
        compile_kernels()
        super().__init__(program, control, newton)
        ends = StepEnd(*program.ends[:-2])
        recorded = [getattr(ends, name) for name in RECORDED]
        sizes = [x.numel() for x in recorded]
        self._columns = dict.fromkeys(OUTCOME, 1) | dict(zip(RECORDED, sizes, strict=True))
        if states:
            self._columns["state"] = self.layout.nz
        self.record = sum(self._columns.values())
        found = [*recorded, ca.norm_inf(ends.motion), ends.kinetic_energy, *program.ends[-2:]]
        self._step = StepCode.of(program.parts, program.given, ca.vertcat(*found))
        self._size, self._judged = (column_leaf(f) for f in (self.size, self.judge))
        self._checks, self._recorded = program.ends[-1].numel(), sum(sizes)
        self._seconds = 0.0  # of all calls
        self._packed = self._pack()

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
        records = np.zeros((attempts, self.record))
        begin = perf_counter()
        made = run_chains(
            self._chain(), self._tables(), self._newton.numbers, state, known, records
        )
        self._improve(perf_counter() - begin)
        return state[0], records[:made]

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
        code = self._code()

        def run(some: slice) -> None:
            records = np.zeros((attempts, self.record))
            run_chains(*code, states[some], known[some], records)

        edges = np.linspace(0, len(states), min(threads, len(states)) + 1).astype(int).tolist()
        shares = [slice(*edge) for edge in pairwise(edges)]
        begin = perf_counter()
        if len(shares) == 1:
            run(*shares)
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(len(shares)) as pool:
                list(pool.map(run, shares))
        self._improve(perf_counter() - begin)
        return states

    def _check_sizes(self, states: Array, known: Array) -> None:
        sizes = (len(states), self.layout.nz), (len(states), self.layout.parameters)
        if (states.shape, known.shape) != sizes:
            raise ValueError(
                f"z and parameters have shapes {states.shape}, {known.shape}, not {sizes}"
            )

    def _improve(self, seconds: float) -> None:
        """Begin quicker code, in the background, once steps have taken long enough."""
        self._seconds += seconds
        if self._seconds > REPAID:
            for leaf in self._leaves:
                leaf.improve()

    @property
    def _leaves(self) -> list[Leaf | LeavesInTurn]:
        return [*self._step.leaves, self._size, self._judged]

    def _code(self) -> tuple[ChainCode, PackedPrograms, NewtonNumbers]:
        """Return what kernels are given beside states, with the code that is ready."""
        return self._chain(), self._tables(), self._newton.numbers

    def _chain(self) -> ChainCode:
        d = self._program.dynamics
        size, judge = (x.code.evaluate for x in (self._size, self._judged))
        end = self._step.addresses.end
        counts = (d.nq, d.nv, len(d.parameters), self.layout.unknowns)
        rows = (self._checks, self._recorded)
        return ChainCode(size, end, judge, *counts, *rows, AT_H_MIN, STRICTEST)

    def _pack(self) -> PackedPrograms:
        """Return the programs as arrays, without addresses; their code is made for it."""
        for leaf in self._leaves:
            _ = leaf.code
        solved = self._step.solved
        sizes = [workspace_sizes(x.square, x.known, x.kept) for x in solved]
        programs = [pack(x.square, size) for x, size in zip(solved, sizes, strict=True)]
        return PackedPrograms(
            np.concatenate([np.zeros(0, dtype=np.int64), *programs]),
            np.cumsum([0, *(len(p) for p in programs)]),
            np.zeros(0, dtype=np.int64),
            self._program.of_equations.astype(np.int64),
            max(map(sum, sizes), default=0),
        )

    def _tables(self) -> PackedPrograms:
        """Return the programs with the addresses of the code that is ready."""
        addresses = self._step.addresses.programs
        return self._packed._replace(code=np.array(addresses, dtype=np.int64))
