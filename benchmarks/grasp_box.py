"""The optimum of grasp_box, its sequence free, from three guesses; and played back in MuJoCo.

There drives act as held over rows of 1 ms, with a controller of 30 rad/s about the motion: of the
lift, and of both fingers together along x, so that it adds nothing to the grip. Told is how far the
box slides in the hand from when it leaves the floor, with the friction of the model and with less,
20 % of which are the margin.
"""

from __future__ import annotations

import runpy
import sys
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from common import machine, table
from numpy.typing import NDArray

from nsopt import Result, ZeroOrderHold
from nsopt.problem import find_problem, load_optimization
from nsopt.trajectory import Guess, Quintic, Through

Array = NDArray[np.float64]
CASE = runpy.run_path(str(find_problem("grasp_box")))
H, ROWS = 1e-4, 1e-3  # s, step of MuJoCo, time over which drives are held
GAIN = 30.0  # rad/s
FRICTIONS = (0.5, 0.45, 0.41, 0.38, 0.3)
LIFT, X, Z, TURN, LEFT, RIGHT = range(6)  # of q
MODEL = """
<mujoco>
  <option timestep="{H}" gravity="0 0 -9.81" cone="elliptic" impratio="100" iterations="200"/>
  <default>
    <geom contype="0" conaffinity="0"/>
    <pair solref="0.002 1" solimp="0.99 0.999 0.0001" condim="3"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body pos="0 0 {middle}">
      <joint name="free.x" type="slide" axis="1 0 0"/>
      <joint name="free.y" type="slide" axis="0 0 1"/>
      <joint name="free.angle" type="hinge" axis="0 -1 0"/>
      <geom name="box" type="box" size="{width} {depth} {middle}" mass="{BOX}"/>
    </body>
    <body pos="0 0 {HEIGHT}">
      <joint name="lift.distance" type="slide" axis="0 0 1"/>
      <geom type="sphere" size="0.02" mass="{HAND}"/>
      <body pos="-{reach} 0 -{middle}">
        <joint name="left slide.distance" type="slide" axis="1 0 0"/>
        <geom name="left" type="sphere" size="{TIP}" mass="{FINGER}"/>
      </body>
      <body pos="{reach} 0 -{middle}">
        <joint name="right slide.distance" type="slide" axis="-1 0 0"/>
        <geom name="right" type="sphere" size="{TIP}" mass="{FINGER}"/>
      </body>
    </body>
  </worldbody>
  <contact>
    <pair geom1="floor" geom2="box" friction="1e-5 1e-5 1e-5 1e-5 1e-5"/>
    <pair geom1="left" geom2="box" friction="{mu} {mu} 1e-5 1e-5 1e-5"/>
    <pair geom1="right" geom2="box" friction="{mu} {mu} 1e-5 1e-5 1e-5"/>
  </contact>
</mujoco>
"""


def guesses() -> dict[str, Guess]:
    """Return guesses that differ in whether and when fingers close."""
    held = np.array([0, 0, 0, 0, CASE["OPEN"], CASE["OPEN"]])
    up = np.array([CASE["LIFT"], 0, CASE["LIFT"], 0, 0, 0])
    return {
        "straight up, open": Quintic(end=up),
        "straight up, closing": Quintic(end=up + held),
        "closed, then up": Through([np.zeros(6), held, up + held], [0.0, 0.3, 1.0]),
    }


def play(best: Result, friction: float) -> tuple[float, float]:
    """Return how far the box slides in the hand, and ends from where it should be [m]."""
    mujoco: Any = import_module("mujoco")
    middle, width = CASE["HEIGHT"] / 2, CASE["WIDTH"] / 2
    sizes = {"middle": middle, "width": width, "depth": CASE["DEPTH"] / 2, "mu": friction, "H": H}
    reach = width + CASE["TIP"] + CASE["OPEN"]
    m = mujoco.MjModel.from_xml_string(MODEL.format(**{**CASE, **sizes, "reach": reach}))
    data, names = mujoco.MjData(m), [str(x) for x in best["q_name"].values]
    own = [m.joint(name).qposadr[0] for name in names]  # slides and hinges: those of qvel as well
    rows = best.sample(ROWS, hold=ZeroOrderHold())
    leaves, heights = best.data.attrs["borders"][-2], []
    for t, q, v, tau in zip(*(rows[x].values for x in ("time", "q", "v", "tau")), strict=True):
        q_now, v_now = data.qpos[own], data.qvel[own]
        if t >= leaves:
            heights.append(q_now[Z] - q_now[LIFT])
        pull = GAIN**2 * (q - q_now) + 2 * GAIN * (v - v_now)
        force = np.array(tau)
        force[LIFT] += (CASE["HAND"] + 2 * CASE["FINGER"] + CASE["BOX"]) * pull[LIFT]
        together = CASE["FINGER"] * (pull[LEFT] - pull[RIGHT]) / 2
        force[[LEFT, RIGHT]] += together, -together
        data.qfrc_applied[own] = force
        if t < rows["time"].values[-1]:
            mujoco.mj_step(m, data, nstep=round(ROWS / H))
    off = data.qpos[own][[X, Z]] - rows["q"].values[-1, [X, Z]]
    return float(np.ptp(heights)), float(np.abs(off).max())


def main() -> int:
    """Print the tables."""
    stated, lines, best = load_optimization("grasp_box"), list[list[str]](), None
    for name, guess in guesses().items():
        found = replace(stated, guess=guess).solve()
        a = found.data.attrs
        what = a.get("contact_sequence", found.stop_reason.partition(":")[0])
        lines.append([name, f"{found.objective:.6f}", str(found.completed), what])
        print(*lines[-1], flush=True)
        best = found if best is None and found.completed else best
    assert best is not None
    played = [(mu, *play(best, mu)) for mu in FRICTIONS]
    slides = [[f"{mu:g}", f"{1e3 * slip:.3f}", f"{1e3 * off:.2f}"] for mu, slip, off in played]
    print(machine())
    print(table(("guess", "cost", "solved", "sequence"), lines))
    print(table(("friction in MuJoCo", "slides [mm]", "off at the end [mm]"), slides))
    return 0


if __name__ == "__main__":
    sys.exit(main())
