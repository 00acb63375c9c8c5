"""What was found out about the mobility of a mechanism, and the page of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nsopt.arrays import Array
from nsopt.mobility.branches import MotionBranch, follow_branch, format_rates
from nsopt.mobility.reduction import Reduction
from nsopt.mobility.topology import Topology
from nsopt.mobility.tracing import Finding

WIDTH = 24  # characters of the labels of the page


@dataclass(frozen=True, eq=False)
class Mobility:
    """What a mechanism can do at a posture; ``print`` gives a page.

    Attributes
    ----------
    reduction : Reduction
        The constraints at the posture, and what they leave free to first order.
    order : int
        The order of the constraints up to which the cones were computed. That cones of two orders
        are equal proves nothing about the next.
    freedoms : int
        The sum of those of all joints.
    rows, rank : int
        Of the constraints on the freedoms of all joints: six rows a loop, whichever joint is cut.
    cone_dimensions : tuple of int
        Of K^1, K^2, ...: the freedom of each order [mobility 2016, eq. 38].
    branches : tuple of MotionBranch
        The pieces of the cones, and what tracing found along them.
    local_freedom : int or None
        The dimension of the set of postures near this one, by tracing; None where undecided.
    shakiness : int or None
        k - 1 for the first K^k that is the tangent cone; 0 where K^1 is. None where none of the
        cones is, or it is undecided.
    singular : bool or None
        Whether that set is no manifold here; None where undecided.
    constraint_singular : bool or None
        Whether the rank is another one nearby, along the motions.
    overconstrained : bool or None
        Whether rows are implied by others here and along the motions.
    redundant_rows : mapping of joint to int
        How many rows of each cut joint follow from its others and from joints before it, here.
    gimbal_locks : tuple of (str, str, str)
        Names of three hinges that stand for a ball, with their axes in one plane: a singularity of
        the coordinates, which a `Spherical` in their place does not have.
    tangent_space : mapping of rate to (k,)
        Rates of all joints along each vector of a basis of the span of the tangent cone.
    """

    reduction: Reduction
    order: int
    freedoms: int
    rows: int
    rank: int
    cone_dimensions: tuple[int, ...]
    branches: tuple[MotionBranch, ...]
    local_freedom: int | None
    shakiness: int | None
    singular: bool | None
    constraint_singular: bool | None
    overconstrained: bool | None
    redundant_rows: Mapping[str, int]
    gimbal_locks: tuple[tuple[str, str, str], ...]
    tangent_space: Mapping[str, Array]

    @property
    def topology(self) -> Topology:
        """The graph of bodies and joints, with its loops."""
        return self.reduction.constraints.topology

    @property
    def q(self) -> Array:
        """The posture, in the coordinates of `Mechanism.tree`, (nq,)."""
        return self.reduction.constraints.q

    def motions(self, branch: MotionBranch, step: float = 0.1, count: int = 8) -> list[Array]:
        """Return the finite motions along a branch, as `follow_branch` does."""
        return follow_branch(self.reduction, branch, step, count)

    @property
    def gruebler(self) -> int:
        """Gruebler's number: freedoms of joints less rows of loops."""
        return self.freedoms - self.rows

    @property
    def differential_freedom(self) -> int:
        """The freedom to first order, the dimension of K^1: that of the kernel of the Jacobian."""
        return self.freedoms - self.rank

    @property
    def underconstrained(self) -> bool | None:
        """Whether the posture is regular, but free in some directions to first order only."""
        if self.singular is None or self.local_freedom is None:
            return None
        return not self.singular and self.differential_freedom != self.local_freedom

    def __str__(self) -> str:
        """Return the page that a designer reads, one finding a line."""
        return "\n".join(f"{label:<{WIDTH}}{text}" for label, text in _list_lines(self) if text)


def _list_lines(x: Mobility) -> list[tuple[str, str]]:
    dims = ", ".join(map(str, x.cone_dimensions))
    return [
        ("mechanism", _tell_mechanism(x)),
        ("", _tell_verdict(x)),
        ("freedom by counting", f"{x.gruebler}: {x.freedoms} of joints less {x.rows} of loops"),
        ("rank", f"{x.rank} of {x.rows}"),
        ("freedom of order", f"{dims}   (1 to {x.order}; equal ones prove nothing about the next)"),
        ("finite freedom", _tell_finite(x)),
        *_tell_character(x),
        ("redundant rows", _tell_redundant(x)),
        *(("gimbal lock", _tell_lock(names)) for names in x.gimbal_locks),
        *_tell_branches(x),
    ]


def _tell_mechanism(x: Mobility) -> str:
    t = x.topology
    cuts = ", ".join(cycle.cut for cycle in t.cycles)
    free = ", ".join(repr(body) for body, (joint, _) in t.tree.items() if joint is None)
    return (
        f"{_count(len(t.bodies), 'body', 'bodies')} and the ground, {len(t.joints)} joints, "
        f"{_count(t.gamma, 'loop', 'loops')}, cut at {cuts}"
        f"{'; in the tree free: ' * bool(free)}{free}"
    )


def _tell_verdict(x: Mobility) -> str:
    if x.local_freedom is None:
        return "whether it moves is undecided"
    if x.local_freedom == 0:
        free = _count_freedoms(x.differential_freedom)
        return "it cannot move" + (
            f", though to first order it has {free}" if x.differential_freedom else ""
        )
    return f"it moves with {_count_freedoms(x.local_freedom)}"


def _tell_finite(x: Mobility) -> str:
    if x.local_freedom is None:
        return "undecided: see the directions below"
    found = [b for b in x.branches if b.finding is Finding.CONFIRMED]
    how = "by tracing" if x.redundant_rows else "as the constraints are independent"
    text = f"{x.local_freedom}, {how}"
    if found and x.local_freedom > x.cone_dimensions[-1]:
        text += (
            f", though the cones end with {x.cone_dimensions[-1]}: a cusp, whose motions begin "
            "with a higher derivative"
        )
    return text


def _tell_character(x: Mobility) -> Iterator[tuple[str, str]]:
    yield (
        "posture",
        {None: "undecided", True: "singular", False: "regular"}[x.singular]
        + ("; the rank is another one nearby" if x.constraint_singular else ""),
    )
    words = []
    if x.overconstrained:
        along = ", also along its motions" if x.local_freedom else ""
        words.append(f"overconstrained: some of its rows depend on others{along}")
    if x.underconstrained:
        words.append("underconstrained: regular, with more freedom to first order than finite")
    if x.shakiness:
        words.append(f"shaky of order {x.shakiness}")
    for k, word in enumerate(words):
        yield "" if k else "character", word


def _tell_redundant(x: Mobility) -> str:
    names = ", ".join(f"{count} of {name!r}" for name, count in x.redundant_rows.items())
    return f"{total}: {names}" if (total := sum(x.redundant_rows.values())) else ""


def _tell_lock(names: tuple[str, str, str]) -> str:
    return (
        f"of {', '.join(map(repr, names))}: three hinges through one point with axes in a plane, "
        "where a Spherical in their place has none"
    )


def _tell_branches(x: Mobility) -> Iterator[tuple[str, str]]:
    for k, branch in enumerate(x.branches):
        yield f"direction{'s' * (branch.dimension != 1)} {k + 1}", str(branch)
        # A refuted subspace has no rates of its own: its lines and subspaces are branches below.
        if branch.dimension == 1 or (branch.piece.linear and branch.finding != Finding.REFUTED):
            yield from (("", text) for text in format_rates(branch))
        for equation in branch.equations:
            yield "", f"0 = {equation}"


def _count_freedoms(n: int) -> str:
    return _count(n, "freedom", "freedoms")


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"
