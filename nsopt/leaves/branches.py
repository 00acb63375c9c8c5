"""Branches between two functions, which functions of SX call.

CasADi puts a branch, `Function.if_else`, into SX as the sum of both sides. One that is to stay a
branch is therefore called as ``branch.wrap().call(arguments, False, True)``: an MX function that
does nothing but call it, never inlined.
"""

from __future__ import annotations

import casadi as ca

CALLING = frozenset((ca.OP_INPUT, ca.OP_CONST, ca.OP_CALL, ca.OP_OUTPUT))
"""Operations of an MX function that does nothing but call others, as its derivatives too."""


def only_calls(called: ca.Function) -> bool:
    """Return whether a function is an MX function that does nothing but call others."""
    return called.is_a("MXFunction") and CALLING.issuperset(
        called.instruction_id(k) for k in range(called.n_instructions())
    )


def sides_of(called: ca.Function) -> tuple[ca.Function, ca.Function] | None:
    """Return the sides of a branch, where the condition counts as zero and elsewhere.

    It does so where a conversion to an integer gives zero: strictly between -1 and 1. None is
    returned for other functions, and for sides whose inputs or outputs have other entries.
    """
    if called.class_name() != "Switch":
        return None
    stated = called.info()
    if len(stated["f"]) != 1 or stated["project_in"] or stated["project_out"]:
        return None
    return stated["f"][0], stated["f_def"]
