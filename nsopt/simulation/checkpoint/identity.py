"""The identity of a run: all that decides its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nsopt.mechanics import Dynamics
from nsopt.simulation.method import Method
from nsopt.simulation.record.history import model_hash
from nsopt.simulation.run import Run
from nsopt.versions import version

Identity = Mapping[str, str]
"""Values as text by name, outer names before inner: "scheme", "scheme.closed"."""

FORMAT = "11"  # of the files of a checkpoint

_PROGRAMS = ("nsopt", "casadi", "numpy", "scipy")
_SHOWN = 5  # differences that one message names


def identify(
    dynamics: Dynamics, run: Run, method: Method, kept: int | NDArray[np.float64]
) -> Identity:
    """Return the identity of a run that keeps every ``kept`` steps, or rows at times (n,) [s]."""
    start = {
        "t": run.start.t,
        "q": dict(zip(dynamics.q_names, run.start.q, strict=True)),
        "v": dict(zip(dynamics.v_names, run.start.v, strict=True)),
    }
    values = {
        "format": FORMAT,
        "version": {name: version(name) for name in _PROGRAMS},
        "model": model_hash(dynamics),
        "parameter": dict(zip(dynamics.parameter_names, run.p, strict=True)),
        "start": start,
        "duration": run.t_end - run.start.t,
        "steps": run.steps,
        "scheme": method.scheme,
        "solver": method.solver,
        "control": method.own_control,
        "acceptance": method.acceptance,
        "store_every": kept if isinstance(kept, int) else 0,
        "times": "" if isinstance(kept, int) else sha256(kept.tobytes()).hexdigest(),
    }
    return dict(_flatten("", values))


def _flatten(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if is_dataclass(value) and not isinstance(value, type):
        yield name, type(value).__qualname__
        value = {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _flatten(f"{name}.{key}" if name else str(key), member)
    elif isinstance(value, Real):
        yield name, repr(float(value)).removesuffix(".0")
    else:
        yield name, str(value)


def check_same_run(saved: Identity, run: Identity, folder: Path) -> None:
    """Refuse a checkpoint of another run; the ValueError names what differs."""
    names = [name for name in {**saved, **run} if saved.get(name) != run.get(name)]
    # Where "scheme" differs, its "scheme.closed" says nothing more.
    outer = [name for name in names if not any(name.startswith(f"{x}.") for x in names)]
    if not outer:
        return
    differences = [f"{n} was {saved.get(n, 'absent')}, is {run.get(n, 'absent')}" for n in outer]
    more = f"; and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
    raise ValueError(
        f"the checkpoint {str(folder)!r} is of another run, by its identity: "
        f"{'; '.join(differences[:_SHOWN])}{more}. Resume with what it was, or start the run anew"
    )
