"""README's rod at speeds and fixed steps that its hinge can, and cannot, follow.

A rod of 1 kg is let go at w rad/s about a hinge with a clearance of 1 mm (e = 0, frictionless).
Told is the error of its energy at the end over the largest kinetic energy, against steps of 1e-6 to
1e-5 s that end at impacts, whether a warning says so, and the part of the steps below h. No run may
be complete, without a warning and off by more than 5 %.
"""

import argparse
from typing import NamedTuple

from common import machine, table

from nsopt import (
    Body,
    Compiled,
    Dynamics,
    Frame,
    Mechanism,
    PlanarRevoluteClearance,
    Result,
    StepBounds,
    Variational,
    assemble,
    simulate,
)

SPEEDS = (1.0, 5.0, 20.0, 50.0, 100.0, 200.0)  # rad/s
STEPS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)  # s
FINE = StepBounds(1e-6, 1e-5)
SILENT = 0.05
"""Error up to which a run may be without a warning."""


class Answer(NamedTuple):
    """A run: its error, whether it is complete and warns, and how many steps were below h."""

    error: float
    complete: bool
    warned: bool
    below: int
    steps: int

    @property
    def text(self) -> str:
        """The cell of the table."""
        state = "warned" if self.warned else "silent"
        state = state if self.complete else f"stopped, {state}"
        below = f", {self.below} of {self.steps} below h" if self.below else ""
        return f"{100 * self.error:.2g} %, {state}{below}"


def rod(w: float) -> Dynamics:
    """Return the rod at its speed."""
    body = Body(
        "rod",
        1.0,
        (0.01, 0.09, 0.09),
        position=(0.5, 0, 0),
        velocity=(0, w / 2, 0),
        angular_velocity=(0, 0, w),
    )
    hinge = PlanarRevoluteClearance("hinge", Frame(None), Frame.at(body, (0, 0, 0)), clearance=1e-3)
    return assemble(Mechanism([body]), [hinge], gravity=(0, -9.81, 0))


def run(w: float, steps: StepBounds, duration: float) -> Result:
    """Return a run."""
    return simulate(
        rod(w),
        duration=duration,
        steps=steps,
        scheme=Variational(),
        solver=Compiled(),
        check=None,
        progress=False,
    )


def answer(result: Result, fine: Result) -> Answer:
    """Return what a run is off by, against a fine one."""
    last, right = (x["total_energy"].values[-1] for x in (result, fine))
    attrs = result.data.attrs
    return Answer(
        float(abs(last - right) / fine["kinetic_energy"].values.max()),
        result.completed,
        bool(result.warnings),
        int(attrs["steps_below_h_min"]),
        int(attrs["steps"]),
    )


def main() -> None:
    """Print the table, and which runs are wrong without a word."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--duration", type=float, default=0.03, help="[s]")
    parser.add_argument("--speeds", type=float, nargs="+", default=SPEEDS, help="[rad/s]")
    parser.add_argument("--steps", type=float, nargs="+", default=STEPS, help="[s]")
    options = parser.parse_args()
    print(machine())
    rows, wrong = [], []
    for w in options.speeds:
        fine = run(w, FINE, options.duration)
        row = [f"{w:g} rad/s"]
        for h in options.steps:
            told = answer(run(w, StepBounds(h, h), options.duration), fine)
            row.append(told.text)
            if told.complete and not told.warned and told.error > SILENT:
                wrong.append(f"{w:g} rad/s, h = {h:g} s: {told.text}")
        rows.append(row)
    print(table(["", *(f"h = {h:g} s" for h in options.steps)], rows))
    print("\n".join(["complete, silent and wrong:", *(wrong or ["none"])]))


if __name__ == "__main__":
    main()
