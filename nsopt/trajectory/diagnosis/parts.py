"""Checks of conditions on parts of a motion: no effect, or two modes of a contact at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from nsopt.trajectory.conditions import Apart, During, Touching
from nsopt.trajectory.diagnosis.statement import Stated, Statement
from nsopt.trajectory.returned import call_spans


def check_effect(statement: Statement) -> None:
    """Refuse a `During` of a condition that states nothing of a single moment.

    Raises
    ------
    ValueError
        Naming the condition.
    """
    for c in statement.conditions:
        for span in call_spans(c, statement.sample):
            if any(b.value.numel() for b in span.bounds):
                continue
            what = type(c.condition if isinstance(c, During) else c).__name__
            raise ValueError(
                f"During {what} has no effect: {what} states nothing that holds all along or at "
                "the end of a motion; give Reach, EndAt, Within or another condition that does"
            )


def check_modes(stated: Sequence[Stated]) -> None:
    """Refuse two modes of one contact at one time; one may begin at the node where another ends.

    Raises
    ------
    ValueError
        Naming both conditions, the contact and the steps.
    """
    conditions = [(x, x.row.inner_condition) for x in stated]
    modes = [(x, c) for x, c in conditions if isinstance(c, Touching | Apart)]
    for (x, a), (y, b) in combinations(modes, 2):
        first, last = x.find_common_nodes(y)
        one_follows = first == last and (x.last == y.first or y.last == x.first)
        if type(a) is type(b) or a.contact != b.contact or first > last or one_follows:
            continue
        both = f"at step {first}" if first == last else f"from step {first} to {last}"
        raise ValueError(
            f"{x.row.owner}, {x.when}, and {y.row.owner}, {y.when}, exclude each other {both}: let "
            "one end where the other begins"
        )
