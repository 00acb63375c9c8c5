"""Problems: a mechanism with start, duration and step bounds, loaded by name or file."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nsopt.mechanics import Dynamics, Mechanism, Start
    from nsopt.schemes import Scheme
    from nsopt.simulation import StepBounds
    from nsopt.trajectory import Optimization


@dataclass(frozen=True, eq=False)
class Problem:
    """A motion to simulate; ``nsopt run`` takes a file that defines ``problem = Problem(...)``.

    Parameters
    ----------
    dynamics : Dynamics
        From `assemble`.
    duration : float [s]
    steps : StepBounds
    start : Start, optional
        The start stated by the bodies by default; ``consistent(dynamics)`` is the nearest one that
        joints and contacts allow.
    scheme : Scheme, optional
        For ``nsopt run`` where no other is named; by default that of `simulate`.
    start_at : function, optional
        The start as a function of the values of the Parameters by name, in place of ``start``:
        where a `Driven` joint turns at ``speed``, bodies start at that.

    Raises
    ------
    TypeError
        If ``dynamics`` or ``steps`` is something else.
    ValueError
        If the duration is not a positive number, or both ``start`` and ``start_at`` are given.
    """

    dynamics: Dynamics
    duration: float
    steps: StepBounds
    start: Start | None = None
    scheme: Scheme | None = None
    start_at: Callable[[Mapping[str, float]], Start] | None = None
    _started: dict[tuple[float, ...], Problem] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        from nsopt.simulation import check_run  # here, as it takes long and `nsopt list` needs none

        check_run(self.dynamics, self.duration, self.steps)
        if self.start is not None and self.start_at is not None:
            raise ValueError("a Problem takes start or start_at, got both: leave one out")

    @property
    def choices(self) -> dict[str, float]:
        """What `Variants` choose by, none here."""
        return {}

    def at(self, values: Mapping[str, float]) -> Problem:
        """Return the problem with the start that ``start_at`` has for values of Parameters by name.

        Raises
        ------
        TypeError
            If ``start_at`` returns something else than a Start.
        """
        from nsopt.mechanics import Start

        if self.start_at is None:
            return self
        known = {x.name: float(values.get(x.name, x.value)) for x in self.dynamics.parameters}
        key = tuple(known.values())
        if key not in self._started:
            start = self.start_at(known)
            if not isinstance(start, Start):
                raise TypeError(f"start_at of a Problem must return a Start, got {start!r}")
            self._started[key] = replace(self, start=start, start_at=None)
        return self._started[key]


@dataclass(frozen=True, eq=False)
class Variants:
    """Problems that numbers, the choices, select: such as a mechanism of as many links.

    ``problem = Variants(build)`` in a file; ``nsopt run NAME --set CHOICE=VALUE`` builds that one.

    Parameters
    ----------
    build : callable
        Returns the `Problem` of choices, which are keywords with a number as default each.

    Raises
    ------
    TypeError
        If it is no function, or an argument has no number as default.
    """

    build: Callable[..., Problem]
    _built: dict[tuple[float, ...], Problem] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.build):
            raise TypeError(f"Variants takes a function that returns a Problem, got {self.build!r}")
        for name, value in self.choices.items():
            if not isinstance(value, int | float):
                raise TypeError(f"choice {name!r} of Variants needs a number as its default")

    @property
    def choices(self) -> dict[str, float]:
        """The choices and their defaults."""
        return {name: x.default for name, x in inspect.signature(self.build).parameters.items()}

    def at(self, values: Mapping[str, float]) -> Problem:
        """Return the problem of choices by name; other names are ignored."""
        chosen = {name: values.get(name, default) for name, default in self.choices.items()}
        key = tuple(chosen.values())
        if key not in self._built:
            self._built[key] = self.build(**chosen)
        return self._built[key]


def problem_folder() -> Path:
    """Return the folder of the named problems: of the clone, or of the installed package."""
    package = Path(__file__).parent
    parent = package.parent
    is_clone = (parent / "pyproject.toml").is_file() and (parent / "problems").is_dir()
    return parent / "problems" if is_clone else package / "_problems"


def problem_files() -> dict[str, Path]:
    """Return the named problems and their files."""
    files = sorted(problem_folder().glob("*/*.py"))
    return {file.stem: file for file in files if not file.stem.startswith("_")}


def problem_title(file: Path) -> str:
    """Return the first line of a file's docstring, without running the file."""
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or file.stem
    return text.splitlines()[0].rstrip(".")


def command_of(file: Path) -> str:
    """Return the command that a file is for, without running it: run, optimize or mobility."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    targets = [t for node in body if isinstance(node, ast.Assign) for t in node.targets]
    defined = {t.id for t in targets if isinstance(t, ast.Name)}
    if "optimization" in defined:
        return "optimize"
    return "mobility" if "mechanism" in defined and "problem" not in defined else "run"


def find_problem(name: str) -> Path:
    """Return the file of a named problem, or of a path to a user's own.

    If there is neither, a ValueError lists the names.
    """
    if name in problem_files():
        return problem_files()[name]
    file = Path(name)
    if file.is_file() and file.suffix == ".py":
        return file
    if file.suffix == ".py":
        raise ValueError(f"no such file: {name!r}")
    raise ValueError(
        f"unknown problem {name!r}: give a Python file, or one of {', '.join(problem_files())}"
    )


def load_problem(name: str, values: Mapping[str, float] | None = None) -> Problem:
    """Return the problem of a name in ``problems/`` or of a Python file.

    The file runs as a script would, with its folder first on the import path.

    Parameters
    ----------
    name : str
    values : mapping of name to number
        Choices, if it comes in `Variants`.

    Raises
    ------
    ValueError
        If there is no such problem, or the file defines no ``problem``.
    """
    return load_stated(name).at(values or {})


def load_stated(name: str) -> Problem | Variants:
    """Return what a file states: a problem, or its variants; errors as for `load_problem`."""
    from nsopt.mechanics import Mechanism

    file = find_problem(name)
    module = _import_file(file)
    problem = getattr(module, "problem", None)
    other = getattr(module, "optimization", None)
    if problem is None and isinstance(other, _load_optimization_class()):
        raise ValueError(f"{file.name} defines an optimization: nsopt optimize {name}")
    if problem is None and isinstance(getattr(module, "mechanism", None), Mechanism):
        raise ValueError(f"{file.name} defines a mechanism alone: nsopt mobility {name}")
    if not isinstance(problem, Problem | Variants):
        kind = "no problem" if problem is None else f"a problem that is {problem!r}"
        raise ValueError(
            f"{file.name} defines {kind}: end it with problem = Problem(dynamics, duration, steps)"
        )
    return problem


def load_optimization(name: str) -> Optimization:
    """Return the optimization of a name in ``problems/`` or of a Python file.

    Errors as for `load_problem`.
    """
    file = find_problem(name)
    module = _import_file(file)
    optimization = getattr(module, "optimization", None)
    if optimization is None and isinstance(getattr(module, "problem", None), Problem):
        raise ValueError(f"{file.name} defines a problem to simulate: nsopt run {name}")
    if not isinstance(optimization, _load_optimization_class()):
        raise ValueError(
            f"{file.name} defines no optimization: end it with optimization = Optimization(...)"
        )
    return optimization


def load_mechanism(name: str) -> Mechanism:
    """Return the mechanism of a problem or optimization, or of a file that defines one alone.

    Errors as for `load_problem`.
    """
    from nsopt.mechanics import Mechanism

    file = find_problem(name)
    module = _import_file(file)
    alone = getattr(module, "mechanism", None)
    if isinstance(alone, Mechanism):
        return alone
    for kind, motion in (("problem", Problem), ("optimization", _load_optimization_class())):
        found = getattr(module, kind, None)
        if isinstance(found, motion):
            return found.dynamics.mechanism
    raise ValueError(
        f"{file.name} defines no mechanism: end it with mechanism = Mechanism(bodies, joints)"
    )


def _load_optimization_class() -> type[Optimization]:
    """Return the class `Optimization`, whose package takes long to import."""
    from nsopt.trajectory import Optimization

    return Optimization


def _import_file(file: Path) -> ModuleType:
    """Run a file as a module, with its folder first on the import path."""
    spec = importlib.util.spec_from_file_location(f"_nsopt_problem_{file.stem}", file)
    assert spec is not None  # a .py file always has a loader
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.resolve().parent))
    sys.modules[spec.name] = module  # where a dataclass looks up what its annotations mean
    try:
        spec.loader.exec_module(module)
    except SystemExit as end:
        raise ValueError(
            f"{file.name} ends the program by sys.exit({end.code!r}): leave that out, or put it "
            'under if __name__ == "__main__":'
        ) from end
    finally:
        sys.path.pop(0)
    return module
