"""The study that papers on joints with clearance begin with: clearances by laws of contact.

A slider-crank (0.05 and 0.12 m, 5000 rpm) with clearance in its piston pin, as in [Flores 2010, A
parametric study on the dynamic response of planar multibody systems with multiple clearance joints,
Nonlinear Dyn. 61], without friction: 0.5, 0.2, 0.1 and 0.02 mm, each rigid (`ContactAligned`) and
by three compliant laws (`Composition`, Hertz' stiffness of a steel pin of 9.5 mm).

``python benchmarks/clearance_study.py study``: table and picture. ``... convergence``: what
converges as h falls. ``... energy``: the balance of a turn by each scheme.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import Array, keep, machine, picture, table
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from nsopt import (
    Compiled,
    ContactAligned,
    ContactLaw,
    Dynamics,
    Flores,
    FollowContacts,
    Gonthier,
    LankaraniNikravesh,
    LargestStep,
    Parameter,
    Result,
    StepBounds,
    Variational,
    hertz_stiffness,
    simulate,
)
from nsopt.analysis import mode_statistics, orbit, quantity
from nsopt.contact_modes import IMPACT
from nsopt.elements import Hysteresis
from nsopt.plots.style import COLOURS, axis_labels, share_legend, title
from nsopt.schemes import Composition, MoreauJean, PaperStep, RungeKutta, Scheme

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "problems" / "slider_crank"))
import slider_crank_5000rpm as crank

CLEARANCES = (5e-4, 2e-4, 1e-4, 2e-5)  # m
TURN = 2 * np.pi / float(crank.SPEED.value)
STIFFNESS = hertz_stiffness(9.5e-3, -10e-3)
SOFT: dict[str, type[Hysteresis] | None] = {
    "rigid": None,
    "LankaraniNikravesh": LankaraniNikravesh,
    "Flores": Flores,
    "Gonthier": Gonthier,
}
STATED = "LankaraniNikravesh, impacts of 1 m/s"
"""Its damping by a speed of impact that is stated: `RungeKutta` latches none."""
PIN = "piston pin"


@dataclass(frozen=True)
class Steps:
    """How a law is stepped, its restitution where the scheme takes that alone."""

    scheme: Scheme
    h: float
    control: LargestStep | None = None
    e: float | None = None

    @property
    def bounds(self) -> StepBounds:
        """Steps that end at events or impacts may be shorter than h."""
        ends = self.control is not None or type(self.scheme) is ContactAligned
        return StepBounds(1e-11 if ends else self.h, self.h)


RIGID, COMPLIANT = Steps(ContactAligned(), 2e-7), Steps(Composition(), 2.5e-7)
PLACED = LargestStep(contacts=FollowContacts(placed=1e-9))
"""Impacts at the ends of steps of `Variational`, to 1e-9 of the kinetic energy."""


def model(name: str, e: float) -> Dynamics:
    """Return the slider-crank with a law of contact by its name."""
    law = ContactLaw(restitution=Parameter("e", e))
    if name == STATED:
        return crank.model(law=law, soft=LankaraniNikravesh(*STIFFNESS, impact_speed=1.0))
    kind = SOFT[name]
    return crank.model(law=law, soft=None if kind is None else kind(*STIFFNESS))


def run(dynamics: Dynamics, clearance: float, turns: float, steps: Steps) -> Result:
    """Simulate some turns from the middle of the bore."""
    options = {} if steps.control is None else {"control": steps.control}
    parameters = {"clearance": clearance} | ({} if steps.e is None else {"e": steps.e})
    result = simulate(
        dynamics,
        crank.start(dynamics),
        turns * TURN,
        steps=steps.bounds,
        scheme=steps.scheme,
        solver=Compiled(),
        parameters=parameters,
        check=None,
        progress=False,
        **options,
    )
    if not result.completed:
        raise RuntimeError(f"{type(steps.scheme).__name__}: {result.stop_reason}")
    return result


def from_turn(result: Result, first: int) -> Result:
    """Return the part of a run from the beginning of a turn on, counted from 0."""
    begin = int(np.searchsorted(result["time"].values, first * TURN - 1e-12))
    return Result(result.data.isel(time=slice(begin, None)))


def balance(result: Result) -> Array:
    """Return the energy that is missing over time [J]: nobody took it, and the driver gave it."""
    lost = result["dissipated_energy"].values + result["projection_work"].values
    lost = lost - lost[0]
    taken = np.nancumsum(result["contact_loss"].values[:, 0])
    return np.asarray(lost - (taken - taken[0]))


def a_turn(result: Result) -> list[float]:
    """Return what is missing after each turn of a run [J]."""
    t = result["time"].values
    turns = round((t[-1] - t[0]) / TURN)
    ends = np.searchsorted(t, t[0] + TURN * np.arange(turns + 1) - 1e-12)
    return np.diff(balance(result)[ends]).tolist()


def largest_force(result: Result) -> float:
    """Return the largest force that lasts [N]."""
    return float(np.nanmax(np.linalg.norm(result["lasting_force"].values[:, 0], axis=1)))


def impact_impulse(result: Result) -> float:
    """Return the sum of the impulses of impacts; of compliant ones those of their steps [N s]."""
    if result.data.attrs["pressed"]:
        struck = result["contact_mode"].values[1:, 0] == IMPACT
        return float(np.nansum(result["impulse"].values[1:, 0][struck]))
    return float(np.nansum(result["impact_impulse"].values[1:]))


HEAD = ["clearance [mm]", "law", "largest lasting force [N]", "impulse a turn [N s]"]
HEAD += ["of impacts", "impacts", "free flight [%]", "impact [%]", "lasting [%]"]
HEAD += ["dissipated a turn [J]", "missing in a turn [J]", "time [s]"]


def row(name: str, clearance: float, result: Result, seconds: float) -> list[str]:
    """Return a line of the table: over all turns but the first, in which the pin settles."""
    settled = from_turn(result, 1)
    turns = round((settled["time"].values[-1] - settled["time"].values[0]) / TURN)
    modes = mode_statistics(settled)[PIN]
    impulse = float(np.nansum(settled["impulse"].values[1:])) / turns
    loss = float(np.nansum(settled["contact_loss"].values[1:])) / turns
    parts = [f"{100 * x:.2f}" for x in (modes.free, modes.impact, modes.lasting)]
    return [
        f"{1e3 * clearance:g}",
        name,
        f"{largest_force(settled):.0f}",
        f"{impulse:.3f}",
        f"{impact_impulse(settled) / turns:.3f}",
        f"{modes.impacts / turns:g}",
        *parts,
        f"{loss:.4f}".replace("-0.0000", "0.0000"),
        f"{max(a_turn(result), key=abs):.1e}",
        f"{seconds:.1f}",
    ]


def draw_force(ax: Axes, result: Result, colour: str, name: str) -> None:
    """Draw the lasting force over the angle of the crank."""
    angle, force = over_angle(result), result["lasting_force"].values[:, 0]
    ax.plot(angle, np.linalg.norm(force, axis=1), color=colour, linewidth=0.7, label=name)


def draw_acceleration(ax: Axes, result: Result, colour: str, name: str) -> None:
    """Draw the acceleration of the slider, impacts of rigid contact left out."""
    values = quantity(result, "body_acceleration[piston, x]")
    ax.plot(over_angle(result), values, color=colour, linewidth=0.7, label=name)


def draw_moment(ax: Axes, result: Result, colour: str, name: str) -> None:
    """Draw the moment of the drive, impacts of rigid contact left out."""
    struck = np.any(result["contact_mode"].values == IMPACT, axis=1)
    soft = bool(result.data.attrs["pressed"])
    moment = np.where(struck & (not soft), np.nan, result["motor.torque"].values)
    ax.plot(over_angle(result), moment, color=colour, linewidth=0.7, label=name)


def over_angle(result: Result) -> Array:
    """Return the angle of the crank from the beginning of the turn [deg]."""
    angle = quantity(result, "main bearing.angle")
    return np.asarray(np.degrees(angle - angle[0]))


def draw_orbit(ax: Axes, result: Result, colour: str, name: str) -> None:
    """Draw the way of the pin in its bore."""
    turn, offset = np.linspace(0, 2 * np.pi, 181), orbit(result, PIN)[0].offset
    ax.plot(np.cos(turn), np.sin(turn), color="black", linewidth=0.8)
    ax.plot(*offset.T, color=colour, linewidth=0.7, label=name)
    ax.set_aspect("equal")


ROWS: dict[str, tuple[Callable[[Axes, Result, str, str], None], str, str]] = {
    "orbit": (draw_orbit, "x / clearance", "y / clearance"),
    "force": (draw_force, "crank angle [deg]", "lasting force [N]"),
    "acceleration": (draw_acceleration, "crank angle [deg]", "slider [m/s²]"),
    "moment": (draw_moment, "crank angle [deg]", "crank moment [N m]"),
}


def study(e: float, turns: int) -> None:
    """Print the table of all clearances and laws, and draw the last turn of each."""
    figure, axes = picture(
        f"Slider-crank at 5000 rpm, e = {e:g}: the last of {turns} turns", 4, (15.0, 13.0), 4
    )
    rows, begin = [], time.perf_counter()
    for name, colour in zip(SOFT, COLOURS, strict=False):
        dynamics = model(name, e)
        for column, clearance in enumerate(CLEARANCES):
            started = time.perf_counter()
            result = run(dynamics, clearance, turns, RIGID if SOFT[name] is None else COMPLIANT)
            rows.append((clearance, row(name, clearance, result, time.perf_counter() - started)))
            print(*rows[-1][1], file=sys.stderr, flush=True)
            last = from_turn(result, turns - 1)
            for ax, (draw, *labels) in zip(axes[:, column], ROWS.values(), strict=True):
                draw(ax, last, colour, name)
                axis_labels(ax, labels[0], labels[1] if column == 0 else None)
            title(axes[0, column], f"clearance {1e3 * clearance:g} mm")
    rows.sort(key=lambda x: -x[0])
    print(table(HEAD, [x for _, x in rows]))
    print(f"all: {time.perf_counter() - begin:.0f} s")
    share_legend(
        figure, [Line2D([], [], color=c, label=x) for x, c in zip(SOFT, COLOURS, strict=False)]
    )
    keep(figure, "clearance_study")


def convergence(e: float) -> None:
    """Print sums that converge and peaks that do not, over the first turn of 0.5 mm."""
    head = ["law", "h [s]", "impulse [N s]", "of impacts", "slider, sum abs(dv) [m/s]"]
    head += ["largest abs(dv) / h [m/s^2]", "crank, sum abs(M) h [N m s]", "largest abs(M) [N m]"]
    rows = []
    for name, scheme in (("rigid", ContactAligned()), ("LankaraniNikravesh", Composition())):
        dynamics = model(name, e)
        for h in (1e-6, 5e-7, 2.5e-7):
            result = run(dynamics, CLEARANCES[0], 1, Steps(scheme, h))
            change = np.abs(np.diff(quantity(result, "guide.speed")))
            sizes, moment = result["h"].values[1:], np.abs(result["motor.torque"].values[1:])
            figures = [np.nansum(result["impulse"].values), impact_impulse(result)]
            figures += [change.sum(), (change / sizes).max(), (moment * sizes).sum(), moment.max()]
            rows.append([name, f"{h:g}", *(f"{x:.5g}" for x in figures)])
    print(table(head, rows))


BALANCED = {
    "rigid": [
        RIGID,
        Steps(Composition(), 1e-5, LargestStep()),
        Steps(Variational(), 8e-8, PLACED),
        Steps(MoreauJean(), 1e-7),
        Steps(MoreauJean(project=True), 1e-7),
        Steps(PaperStep(finds_h=False), 1.5e-8, e=0.0),
    ],
    "LankaraniNikravesh": [COMPLIANT, Steps(Variational(), 1e-7), Steps(Variational(), 1e-8)],
    STATED: [Steps(RungeKutta(), 2.5e-7), COMPLIANT],
}


def energy(e: float) -> None:
    """Print what is missing after each of two turns of 0.5 and of 0.02 mm, by scheme."""
    rows = []
    for name, ways in BALANCED.items():
        dynamics = model(name, e)
        for steps in ways:
            for clearance in (CLEARANCES[0], CLEARANCES[-1]):
                result = run(dynamics, clearance, 2, steps)
                swing = float(np.ptp(result["total_energy"].values))
                missing = [f"{x:+.1e}" for x in a_turn(result)]
                label = type(steps.scheme).__name__
                label += "(project=True)" if getattr(steps.scheme, "project", False) else ""
                label += "" if steps.e is None else f", e = {steps.e:g}"
                rows.append([name, label, f"{steps.h:g}", f"{1e3 * clearance:g}", *missing])
                rows[-1].append(f"{swing:.0f}")
                print(*rows[-1], file=sys.stderr, flush=True)
    head = ["law", "scheme", "h [s]", "clearance [mm]", "first turn [J]", "second [J]"]
    print(table([*head, "energy to and fro [J]"], rows))


def main() -> None:
    """Run a part, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=["study", "convergence", "energy"])
    parser.add_argument("--restitution", type=float, help="0.9 in the study, 0.46 in the others")
    parser.add_argument("--turns", type=int, default=3, help="of the study")
    options = parser.parse_args()
    print(machine())
    e = options.restitution
    for what in options.what:
        if what == "study":
            study(0.9 if e is None else e, options.turns)
        elif what == "convergence":
            convergence(0.46 if e is None else e)
        elif what == "energy":
            energy(0.46 if e is None else e)
        else:
            parser.error(f"no part {what!r}: study, convergence or energy")


if __name__ == "__main__":
    main()
