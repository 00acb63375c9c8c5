"""Copies in the C that CasADi generates, by the processor's widest instructions.

CasADi hands numbers from function to function in vectors, which it copies entry by entry: a
compiler that cannot know that the two do not overlap leaves that as it is. In steps of fifty bodies
these copies were a fifth of the time. A work vector that is written never overlaps what is read, as
concatenations and parts are none of the operations that CasADi does in place.
"""

from __future__ import annotations

import re

LEAST = 8
"""Numbers from which on a copy is one of a block."""

WHOLE = re.compile(r"for \(i=0, cs=(\w+); i<(\d+); \+\+i\) \*rr\+\+ = \*cs\+\+;")
PART = re.compile(r"for \(rr=(\w+), cs=(\w+)\+(\d+); cs!=\2\+(\d+); cs\+=1\) \*rr\+\+ = \*cs;")
COPY = "for (i=0; i<n; ++i) *y++ = *x++;"
"""The loop of ``casadi_copy``, whose two vectors may be the same."""


def with_copied_blocks(source: str) -> str:
    """Return generated C in which longer copies are of blocks."""

    def whole(found: re.Match[str]) -> str:
        of, count = found[1], int(found[2])
        size = f"{count}*sizeof(casadi_real)"
        return f"memcpy(rr, {of}, {size}); rr += {count};" if count >= LEAST else found[0]

    def part(found: re.Match[str]) -> str:
        to, of, first, end = found[1], found[2], int(found[3]), int(found[4])
        size = f"{end - first}*sizeof(casadi_real)"
        return f"memcpy({to}, {of}+{first}, {size});" if end - first >= LEAST else found[0]

    source = source.replace(COPY, "memmove(y, x, n*sizeof(casadi_real));", 1)
    return "#include <string.h>\n" + PART.sub(part, WHOLE.sub(whole, source))
