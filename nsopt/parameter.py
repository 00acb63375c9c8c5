"""Named numbers that stay symbols in the step equations."""

import dataclasses
import operator
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Kind = TypeVar("Kind")

_symbol_of: ContextVar[Callable[["Parameter"], ca.SX]] = ContextVar("symbol_of")
"""The symbol of a Parameter, while a function of time is evaluated."""


Operator = Callable[["Parameter", Any], ca.SX]


def _make_operators(operation: Callable[[Any, Any], Any]) -> tuple[Operator, Operator]:
    """Return the methods of an operation of Parameters, and of its reflection."""

    def symbol(x: Any) -> Any:
        return x.__SX__() if isinstance(x, Parameter) else x

    def apply(self: "Parameter", other: Any) -> Any:
        return operation(symbol(self), symbol(other))

    def reflect(self: "Parameter", other: Any) -> Any:
        return operation(symbol(other), symbol(self))

    return apply, reflect


@dataclass(frozen=True)
class Parameter:
    """A number with a name, left symbolic in the step equations.

    Accepted wherever a mass, a length, a stiffness, a force, ... is; a run may then replace the
    value without assembling or compiling anew, and sensitivities to it exist. In a function of time
    it takes part in arithmetic, ``lambda t: amplitude * np.sin(t)``, and in CasADi functions.

    Parameters
    ----------
    name : str
        Unique in the mechanism; the NAME of ``nsopt run --set NAME=VALUE``.
    value : float
        In the unit of the number it stands for.
    """

    name: str
    value: float

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"parameter name {self.name!r} must be a word of letters, digits, _")
        number_like = isinstance(self.value, Real) and not isinstance(self.value, bool)
        if not number_like or not np.isfinite(self.value):
            raise ValueError(f"parameter {self.name!r} must be a finite number, got {self.value}")

    __array_ufunc__ = None  # so that a number of NumPy leaves arithmetic to this class

    def __SX__(self) -> ca.SX:
        """Return its symbol, for CasADi."""
        if (symbol_of := _symbol_of.get(None)) is None:
            raise TypeError(
                f"arithmetic with the Parameter {self.name!r} is for functions of time: state "
                "lambda t: ..., or give another Parameter for the result"
            )
        return symbol_of(self)

    def __neg__(self) -> ca.SX:
        return -self.__SX__()

    __add__, __radd__ = _make_operators(operator.add)
    __sub__, __rsub__ = _make_operators(operator.sub)
    __mul__, __rmul__ = _make_operators(operator.mul)
    __truediv__, __rtruediv__ = _make_operators(operator.truediv)
    __pow__, __rpow__ = _make_operators(operator.pow)


Scalar = float | Parameter
Numbers = Sequence[Any] | NDArray[Any]
"""A vector or matrix (nested sequences) of `Scalar`."""


def at_time(
    function: Callable[[ca.SX], Any], t: ca.SX, symbol_of: Callable[[Parameter], ca.SX]
) -> Any:
    """Return ``function(t)``; inside it NumPy's functions, as ``np.sin``, work on the symbol t [s].

    ``symbol_of`` returns the expression that a Parameter in it stands for.
    """
    mode, before = ca.GlobalOptions.getNumpyMode(), _symbol_of.set(symbol_of)
    ca.GlobalOptions.setNumpyMode(-1)  # expressions from NumPy's functions, without a warning
    try:
        return function(t)
    finally:
        ca.GlobalOptions.setNumpyMode(mode)
        _symbol_of.reset(before)


def number(value: Any) -> Any:
    """Return ``value`` with every Parameter replaced by its number: a float or a float array.

    Text among the numbers is a TypeError, rows of several lengths are a ValueError.
    """
    if isinstance(value, str):
        raise TypeError(f"{value!r} is text, not a number")
    if isinstance(value, Parameter):
        return float(value.value)
    if isinstance(value, Sequence) or (isinstance(value, np.ndarray) and value.dtype == object):
        return np.array([number(x) for x in value], dtype=float)
    return np.asarray(value, dtype=float) if np.ndim(value) else float(value)


def constant(value: Any) -> ca.SX:
    """Return ``value`` as an expression without symbols, Parameters by their numbers."""
    return ca.SX(ca.DM(number(value)))


def parameters_in(value: Any) -> dict[str, Parameter]:
    """Return the Parameters in nested sequences and dataclasses, by name.

    One name with two values is a ValueError.
    """
    parameters: dict[str, Parameter] = {}
    for parameter in objects_in(value, Parameter):
        known = parameters.setdefault(parameter.name, parameter)
        if known.value != parameter.value:
            raise ValueError(
                f"parameter {parameter.name!r} is given twice, as {known.value} and as "
                f"{parameter.value}: use one Parameter object, or two names"
            )
    return parameters


def objects_in(value: Any, kind: type[Kind]) -> list[Kind]:
    """Return the objects of a class in nested sequences and dataclasses."""
    if isinstance(value, kind):
        return [value]
    return [found for part in _list_parts(value) for found in objects_in(part, kind)]


def _list_parts(value: Any) -> list[Any]:
    """Return the members of a dataclass or sequence, or what a function of time contains."""
    if callable(value):
        return _list_parts_of_function(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, (tuple, list)) or (
        isinstance(value, np.ndarray) and value.dtype == object
    ):
        return list(value)
    return []


def _list_parts_of_function(function: Callable[[ca.SX], Any]) -> list[Any]:
    """Return what a function of time returns, and the Parameters that it computes with."""
    used: list[Parameter] = []

    def symbol_of(parameter: Parameter) -> ca.SX:
        used.append(parameter)
        return ca.SX.sym(parameter.name)

    return [at_time(function, ca.SX.sym("t"), symbol_of), *used]


def substitute(value: Any, numbers: Mapping[str, float]) -> Any:
    """Return a copy of nested sequences and dataclasses with other parameter values.

    Every dataclass with one of these Parameters in it is constructed anew, so all its checks run on
    the new values. An object that occurs several times becomes one new object.
    """
    return _substitute(value, numbers, {})


def exchange(value: Any, objects: Sequence[tuple[Any, Any]]) -> Any:
    """Return a copy of nested sequences and dataclasses, of each pair (old, new) the new object."""
    return _substitute(value, {}, {id(old): new for old, new in objects})


def _substitute(value: Any, numbers: Mapping[str, float], done: dict[int, Any]) -> Any:
    """Return a copy; ``done`` has the new object by the id of each old one."""
    if isinstance(value, Parameter):
        return Parameter(value.name, numbers[value.name]) if value.name in numbers else value
    if callable(value):
        return value
    if id(value) not in done:
        parts = _list_parts(value)
        new = [_substitute(part, numbers, done) for part in parts]
        changed = any(a is not b for a, b in zip(new, parts, strict=True))
        done[id(value)] = _rebuild(value, new) if changed else value
    return done[id(value)]


def _rebuild(value: Any, parts: list[Any]) -> Any:
    """Return a dataclass of the type of ``value``, or a tuple, of other parts."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return dataclasses.replace(value, **dict(zip(names, parts, strict=True)))
    return tuple(parts)
