"""Checks of stated numbers: one clear error that names the thing, the value and the remedy."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nsopt.parameter import number, parameters_in

NOT_IN_MECHANISM = ", which is not in the mechanism"
"""Why a name is refused, for `check_names`."""


def numbers(what: str, value: Any) -> NDArray[np.float64]:
    """Return ``value`` as a float array of any shape; Parameters count by their value.

    A ValueError is named ``what``, for True or False, text among the numbers, or rows of different
    length.
    """
    if isinstance(value, bool | np.bool_):  # to Python True is the number 1
        raise ValueError(f"{what} must be numbers, got {value!r}")
    try:
        return np.asarray(number(value), dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be numbers, got {value!r}") from None


def finite(what: str, value: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return ``value`` as a float array of ``shape``; Parameters count by their value.

    A ValueError is named ``what``, if the shape differs or an entry is no finite number.
    """
    array = numbers(what, value)
    if array.shape != shape:
        raise ValueError(f"{what} must have shape {shape}, got shape {array.shape}: {value!r}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{what} must be finite, got {value!r}")
    return array


def positive(what: str, value: Any, remedy: str = "give a value above zero") -> float:
    """Return ``value`` as a float above zero; ValueError named ``what`` otherwise."""
    x = float(finite(what, value, ()))
    if x <= 0:
        raise ValueError(f"{what} must be positive, got {x:g}: {remedy}")
    return x


def not_negative(what: str, value: Any, remedy: str = "give zero or more") -> float:
    """Return ``value`` as a float of at least zero; ValueError named ``what`` otherwise."""
    x = float(finite(what, value, ()))
    if x < 0:
        raise ValueError(f"{what} must not be negative, got {x:g}: {remedy}")
    return x


def between(what: str, value: Any, low: float, high: float, remedy: str) -> float:
    """Return ``value`` as a float from low to high; ValueError named ``what`` otherwise."""
    x = float(finite(what, value, ()))
    if not low <= x <= high:
        raise ValueError(f"{what} must lie between {low:g} and {high:g}, got {x:g}: {remedy}")
    return x


def whole(what: str, value: Any, remedy: str = "") -> int:
    """Return ``value`` as a whole number of 1 or more; ValueError named ``what`` otherwise."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        told = f"{what} must be a whole number, 1 or more, got {value!r}"
        raise ValueError(f"{told}: {remedy}" if remedy else told)
    return int(value)


def check_names(what: str, names: Iterable[str], known: Iterable[str], why: str = "") -> None:
    """Raise a ValueError for a name that is not known: ``what`` with the name, why, those known.

    "Reach names the body 'arm', which is not in the mechanism: one of crank, rod" has ``what``
    "Reach names the body" and ``why`` `NOT_IN_MECHANISM`.
    """
    there_are = dict.fromkeys(map(str, known))
    for name in names:
        if name not in there_are:
            choice = f"one of {', '.join(there_are)}" if there_are else "there are none"
            raise ValueError(f"{what} {name!r}{why}: {choice}")


def check_text(what: str, text: str) -> None:
    """Raise a ValueError named ``what`` for text that no file can hold: NUL, half a surrogate."""
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError(f"{what} must be text that files can hold, got {text!r}: rename it")


def check_variable_name(what: str, name: str) -> None:
    """Raise a ValueError named ``what`` for a name that no variable of a netCDF file can have."""
    check_text(what, name)
    if "/" in name:
        raise ValueError(
            f"{what} names variables of the result, which takes no '/', got {name!r}: rename it, "
            f"as {name.replace('/', '_')!r}"
        )


def plain(what: str, value: Any, remedy: str = "rotations keep their form only as numbers") -> None:
    """Raise a ValueError named ``what`` if Parameters are among the numbers, by default of axes."""
    for name in parameters_in(value):
        raise ValueError(f"{what} must be plain numbers, got the Parameter {name!r}: {remedy}")
