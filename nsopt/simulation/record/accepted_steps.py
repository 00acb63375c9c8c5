"""Accepted steps, in columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntFlag
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nsopt.arrays import Array
from nsopt.contact_modes import FREE, IMPACT, LASTING
from nsopt.mechanics import Dynamics, Start

ROUND_OFF = 1e-14
"""Of a typical impulse, the part below which an impulse counts as zero."""

TEXTS = ("reason", "tried")  # columns of texts; the others are of numbers

ADDING = (
    *("loss", "work", "projection_work"),
    *("iterations", "solve_time", "retries", "unplaced"),
)
"""Columns that are summed over steps that are left out."""

NOT_NEGATIVE = (
    *("h", "impulse", "impact_impulse", "motion_residual"),
    *("iterations", "retries", "solve_time"),
)
"""Columns that are sizes and counts."""

MODES = (FREE, LASTING, IMPACT)  # values of ``contact_mode``


class How(IntFlag):
    """What a reader should know of how a step was taken."""

    AS_ASKED = 0
    BELOW_H_MIN = 1  # and neither the last one nor ended by an event
    BY_OTHER_SCHEME = 2
    BY_OTHER_LAW = 4  # of impact


class FieldError(ValueError):
    """A field of a file that is missing, or of another kind than a run writes."""


@dataclass(frozen=True, eq=False)
class AcceptedSteps:
    """Accepted steps one after another: end states, impulses and the effort for each."""

    t: Array  # (n,) [s]
    h: Array  # (n,) [s]
    q: Array  # (n, nq)
    v: Array  # (n, nv)
    impulse: Array  # (n, ng) [N s]
    impact_impulse: Array  # (n, ng) [N s] the part of them that acted at once, in impacts
    contact_mode: Array  # (n, ng) by `ContactJudge`, zero before it
    joint_impulse: Array  # (n, nm)
    slip_impulse: Array  # (n, ns) [N s]
    motion_residual: Array  # (n,) [N, N m] largest row
    loss: Array  # (n, ng + ns) [J] taken by each contact, then where forces press surfaces apart
    work: Array  # (n,) [J] of applied loads
    projection_work: Array  # (n,) [J] energy added by bringing bodies back to joints and walls
    iterations: Array  # (n,)
    solve_time: Array  # (n,) [s]
    retries: Array  # (n,) attempts that failed before
    reason: NDArray[np.object_]  # (n,) texts
    tried: NDArray[np.object_]  # (n,) attempts that failed before and why, tuples of texts
    at_end: NDArray[np.bool_]  # (n,) whether directions of impulses are those at the end
    depth: Array  # (n,) beyond the walls of bores, `WallFigures`; 0 in impacts
    unplaced: Array  # (n,) [J] `WallFigures.unplaced`
    overdue: Array  # (n,) [s] `WallFigures.overdue`
    how: NDArray[np.int64]  # (n,) of `How`

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.t)

    @classmethod
    def join(cls, blocks: Iterable[Self]) -> Self:
        """Return consecutive blocks as one."""
        blocks = list(blocks)
        return cls(*(np.concatenate([getattr(b, f.name) for b in blocks]) for f in fields(cls)))

    @classmethod
    def empty(cls, d: Dynamics) -> Self:
        """Return no steps, of a mechanism."""
        widths = {
            "q": d.nq,
            "v": d.nv,
            "impulse": len(d.contact_names),
            "impact_impulse": len(d.contact_names),
            "contact_mode": len(d.contact_names),
            "joint_impulse": len(d.multiplier_names),
            "slip_impulse": len(d.slip_contacts),
            "loss": len(d.contact_names) + len(d.pressed_names),
        }
        kinds = dict.fromkeys(TEXTS, object) | {"at_end": bool, "how": np.int64}
        return cls(
            *(
                np.zeros((0, widths[f.name]) if f.name in widths else 0, kinds.get(f.name, float))
                for f in fields(cls)
            )
        )

    @classmethod
    def of_ends(cls, ends: Mapping[str, Array], force: float, **others: Any) -> Self:
        """Return steps by fields of `StepEnd`, (n, size) each, and the columns that these lack.

        ``force`` [N] is the typical one, to which the round-off of impulses is compared.
        """
        return cls(
            h=ends["h"][:, 0],
            q=ends["q"],
            v=ends["v"],
            impulse=significant_impulses(ends["impulse"], ends["h"] * force),
            impact_impulse=significant_impulses(ends["impact_impulse"], ends["h"] * force),
            contact_mode=np.zeros_like(ends["impulse"]),
            joint_impulse=ends["joint_impulse"],
            slip_impulse=ends["slip_impulse"],
            loss=np.hstack([ends["loss"], ends["pressed_loss"]]),
            work=ends["work"][:, 0],
            projection_work=ends["projection_work"][:, 0],
            retries=np.fromiter(map(len, others["tried"]), dtype=float),
            depth=ends["depth"][:, 0] * (ends["late"][:, 0] == 0),
            unplaced=ends["unplaced"][:, 0],
            overdue=ends["overdue"][:, 0],
            **others,
        )

    def at(self, rows: object) -> Self:
        """Return some of the steps, as copies, so that the others can be freed."""
        return type(self)(*(np.array(getattr(self, f.name)[rows]) for f in fields(self)))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all as arrays of numbers by name: texts as indices of ``texts``, which is JSON."""
        indices: dict[object, int] = {}
        columns: dict[str, NDArray[Any]] = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in TEXTS:
            rows = [indices.setdefault(text, len(indices)) for text in columns[name]]
            columns[name] = np.array(rows, dtype=np.int64)
        columns["texts"] = np.frombuffer(json.dumps(list(indices)).encode(), dtype=np.uint8)
        return columns

    @classmethod
    def of_columns(cls, columns: Mapping[str, NDArray[Any]], empty: Self, prefix: str = "") -> Self:
        """Return the steps that became ``columns``, of the mechanism of which ``empty`` is.

        ``prefix`` is what is before the name of each column.

        Raises
        ------
        FieldError
            Naming a column that is missing or does not fit.
        """
        if missing := {f"{prefix}{name}" for name in ("texts", *vars(empty))} - {*columns}:
            raise FieldError(f"it lacks {', '.join(sorted(missing))}")
        count = columns[f"{prefix}t"].size
        texts = _read_texts(columns[f"{prefix}texts"], f"{prefix}texts")
        values = {name: columns[f"{prefix}{name}"] for name in vars(empty)}
        for name, no_rows in vars(empty).items():
            x, kind = values[name], np.dtype(np.int64) if name in TEXTS else no_rows.dtype
            if x.dtype != kind or x.shape != (count, *no_rows.shape[1:]):
                raise FieldError(f"{prefix}{name} is of type {x.dtype} and shape {x.shape}")
            if name in TEXTS and count and not 0 <= x.min() <= x.max() < len(texts):
                raise FieldError(f"{prefix}{name} refers to texts that are not there")
            if not np.all(np.isfinite(x)):
                raise FieldError(f"{prefix}{name} has entries that are no finite numbers")
            if name in NOT_NEGATIVE and np.any(x < 0):
                raise FieldError(f"{prefix}{name} has negative entries")
            if name == "contact_mode" and not np.all(np.isin(x, MODES)):
                raise FieldError(f"{prefix}{name} has others than 0, 1, 2")
            if name == "how" and np.any((x < 0) | (x > sum(How))):
                raise FieldError(f"{prefix}{name} has others than 0 to {sum(How)}")
        steps = cls(**values | {name: texts[values[name]] for name in TEXTS})
        is_right = {
            "impact_impulse": steps.impact_impulse <= steps.impulse,
            "retries": steps.retries == [len(texts) for texts in steps.tried],
            "contact_mode": (steps.contact_mode == IMPACT) == (steps.impact_impulse > 0),
        }
        for name, rows in is_right.items():
            if not np.all(rows):
                raise FieldError(f"{prefix}{name} contradicts what else it has of its steps")
        return steps

    @property
    def end(self) -> Start:
        """The state at the end of the last step, from which the next one starts."""
        return Start(self.q[-1], self.v[-1], float(self.t[-1]))

    def with_earlier(self, tried: Sequence[object], by: str = "", how: How = How.AS_ASKED) -> Self:
        """Return the steps with attempts that failed before the first, and how all were taken.

        ``by`` says the same as ``how``, in words.
        """
        attempts = [(*map(str, tried), *self.tried[0]), *self.tried[1:]]
        return replace(
            self,
            tried=objects(attempts),
            retries=np.array([float(len(texts)) for texts in attempts]),
            reason=objects("; ".join(x for x in (str(text), by) if x) for text in self.reason),
            how=self.how | how,
        )

    def thin(self, every: int) -> Self:
        """Return the last of each ``every`` steps; columns that add up are sums over them."""
        n = len(self) // every
        last = self.at(slice(every - 1, None, every))
        sums = {
            name: np.add.reduceat(getattr(self, name), np.arange(n) * every, axis=0)
            for name in ADDING
        }
        sums["tried"] = objects(
            sum(self.tried[k * every : (k + 1) * every].tolist(), ()) for k in range(n)
        )
        return replace(last, **sums)


def significant_impulses(impulse: Array, typical: Any) -> Array:
    """Return impulses (..., ng) [N s] without the round-off that solvers leave in open contacts."""
    return np.where(impulse > ROUND_OFF * typical, impulse, 0.0)


def objects(values: Iterable[object]) -> NDArray[np.object_]:
    """Return a vector of any objects, tuples included."""
    return np.fromiter(values, dtype=object)


def _read_texts(stored: NDArray[Any], name: str) -> NDArray[np.object_]:
    """Return the texts, and tuples of texts, of columns."""
    try:
        decoded = json.loads(stored.tobytes())
    except (ValueError, RecursionError):
        raise FieldError(f"{name} is no JSON") from None
    for text in decoded if isinstance(decoded, list) else [None]:
        if not all(isinstance(x, str) for x in (text if isinstance(text, list) else [text])):
            raise FieldError(f"{name} has something else than texts")
    return objects(tuple(text) if isinstance(text, list) else text for text in decoded)
