"""Runs of random mechanisms: all finish, stay inside their walls and gain no energy."""

import numpy as np
import pytest

from nsopt import Compiled, MoreauJean, Variational, simulate
from tests.random_mechanisms import cases

CLASSES = ((1e-5, 1e-4), (1e-4, 1e-3), (1e-3, 1e-2))  # m, clearance


CHOSEN = (120, 160, 320, 360, 400, 520, 560, 840, 880, 920)
"""Of a thousand runs of five mechanisms: hard ones, in all classes of clearance."""

UNPLACED = "s before the end"
"""Of attempts that solved their step, but whose impact was not at its end."""


def attempts(data):
    """Return the texts of all attempts that failed."""
    return [text for step in data["tried"].values for text in step.split("; ") if text]


def outcome(case, scheme):
    """Run a case and return its numbers."""
    result = simulate(
        case.chain.dynamics,
        case.start,
        case.duration,
        steps=case.steps,
        scheme=scheme,
        solver=Compiled(),
        parameters=case.parameters,
        progress=False,
    )
    data = result.data
    if isinstance(scheme, Variational):
        closed = data["gap"].values <= 1e-8 * data.attrs["gap_scales"]
    else:  # its contacts sink, so they are closed where they press
        closed = np.nan_to_num(data["impulse"].values) > 0
    energy = data["total_energy"].values
    kinetic = data["kinetic_energy"].values.max()
    return {
        "clearance": case.clearance,
        "finished": result.completed,
        "why": data.attrs["stop_reason"],
        "closures": int((closed[1:] & ~closed[:-1]).sum()),
        "steps": data.attrs["steps"],
        "retries": sum(UNPLACED not in text for text in attempts(data)),
        "fallbacks": sum("by MoreauJean" in text for text in data["step_reason"].values),
        "gap": float(data["gap"].min()),
        "residual": float(np.nanmax(data["motion_residual"])),
        "gained": float(np.max(energy - energy[0]) / kinetic),
    }


def table(rows):
    """Return the outcomes by clearance as text."""
    lines = [
        "clearance      runs finished closures retries/step fallbacks    gap   residual gained"
    ]
    for low, high in CLASSES:
        part = [row for row in rows if low <= row["clearance"] < high]
        steps = sum(row["steps"] for row in part)
        lines.append(
            f"{low:.0e}..{high:.0e} {len(part):5d} {sum(r['finished'] for r in part):8d} "
            f"{np.median([r['closures'] for r in part]):8.0f} "
            f"{sum(r['retries'] for r in part) / steps:12.3f} "
            f"{sum(r['fallbacks'] for r in part):9d} {min(r['gap'] for r in part):8.1e} "
            f"{max(r['residual'] for r in part):8.1e} {max(r['gained'] for r in part):8.1e}"
        )
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [Variational(), MoreauJean()], ids=lambda s: type(s).__name__)
def test_runs_of_random_mechanisms(scheme, capsys):
    runs = [*cases(1000, models=5)]
    rows = [outcome(case, scheme) for case in (runs[k] for k in CHOSEN)]
    with capsys.disabled():
        print(f"\n{scheme!r}\n{table(rows)}")
    met = [row for row in rows if row["closures"] > 0]  # runs without contact do not count
    assert not [row["why"] for row in rows if not row["finished"]]
    assert max(row["retries"] / row["steps"] for row in rows) < 1
    assert len(met) > 0.9 * len(rows)
    assert np.median([row["closures"] for row in met]) >= 20
    if isinstance(scheme, Variational):
        assert min(row["gap"] for row in rows) >= -1e-10
        # The rule for single steps is that of Acceptance; over a run dissipation outweighs it.
        assert max(row["gained"] for row in rows) < 0.05
