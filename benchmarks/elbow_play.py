"""ur5 with 0.2 mm of play in its elbow: least effort from the motion of ideal joints, a picture.

The tip error is the distance of the tip from where it would be, at the same angles of the joints,
if the pin of the elbow were in the middle of its bore; without play it is zero.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
from common import machine, table
from least_load import file_of
from matplotlib.figure import Figure

from nsopt import Result, Variational, assemble
from nsopt.robots import WithPlay, forward_kinematics, load_urdf
from nsopt.trajectory import (
    IN_STEPS,
    Earlier,
    Effort,
    EndAt,
    FromIdeal,
    Horizon,
    InputEffort,
    Quintic,
    StartAt,
    optimize,
)

G, T, STEPS, CLEARANCE = (0.0, 0.0, -9.81), 1.0, 40, 2e-4
BEGIN = np.array([0.0, -1.4, 1.6, -1.8, -1.57, 0.0])
END = np.array([0.8, -1.0, 1.2, -1.6, -1.4, 0.4])
JOINT = "elbow_joint"


def motions() -> tuple[WithPlay, Result, Result]:
    """Return the robot with play, the best motion without play and that with it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = load_urdf(file_of("ur5_robot"))
    ideal, loose = assemble(robot, gravity=G), WithPlay(robot, JOINT, CLEARANCE)
    begin, end = (dict(zip(ideal.q_names, q, strict=True)) for q in (BEGIN, END))
    ends = [StartAt(begin, np.zeros(6)), EndAt(end, np.zeros(6))]
    scheme = Variational(normal_implicitness=0.5)
    best = optimize(ideal, Horizon(T, STEPS), [Effort()], ends, Quintic(), scheme=scheme)
    d = assemble(loose.mechanism, loose.elements, gravity=G)
    ends = [StartAt(begin, np.zeros(8)), EndAt(end, np.zeros(8))]
    costs, guess = [Effort(), InputEffort(input=loose.input)], FromIdeal(robot, Earlier(best))
    inputs = [loose.input]
    options = {"inputs": inputs, "scheme": scheme, "plan": IN_STEPS}
    played = optimize(d, Horizon(T, STEPS), costs, ends, guess, **options)
    return loose, best, played


def tips(robot: WithPlay, played: Result) -> tuple[np.ndarray, np.ndarray]:
    """Return the tip of the motion with play, and where the angles alone tell it, (n, 3) [m]."""
    names = played.data["q_name"].values.tolist()
    q = played["q"].values
    centred = q.copy()
    centred[:, [names.index(f"{JOINT}.{x}") for x in "xy"]] = 0.0
    tip = forward_kinematics(robot.mechanism, [robot.robot.frame("tool0")])
    still = np.zeros(8)
    first, second = (
        np.array([np.asarray(tip(x, still, still)[0]).ravel() for x in rows])
        for rows in (q, centred)
    )
    return first, second


def draw(path: Path, best: Result, played: Result, error: np.ndarray) -> None:
    """Save the picture: the pin in its bore, the tip error, the torque of the elbow."""
    figure = Figure(figsize=(13, 3.8), layout="constrained")
    bore, over, drive = figure.subplots(1, 3)
    names = played.data["q_name"].values.tolist()
    x, y = (played["q"].values[:, names.index(f"{JOINT}.{k}")] / 1e-3 for k in "xy")
    turn = np.linspace(0, 2 * np.pi, 181)
    c = CLEARANCE / 1e-3
    bore.plot(c * np.cos(turn), c * np.sin(turn), "0.6", label="bore")
    pin = bore.scatter(x, y, c=played["time"].values, s=14, zorder=3, label="pin")
    figure.colorbar(pin, ax=bore, label="t [s]")
    bore.set(xlabel="x [mm]", ylabel="y [mm]", aspect="equal", title="offset of the elbow's pin")
    bore.legend(loc="center")
    t = played["time"].values
    for axis, values in zip("xyz", error.T, strict=True):
        over.plot(t, values / 1e-3, ".-", label=f"{axis}, with play")
    over.plot(t, 0 * t, "k--", label="without play")
    over.set(xlabel="t [s]", ylabel="[mm]", title="tip error", ylim=(-1.2 * c, 2.0 * c))
    over.legend(loc="upper center", ncols=2, fontsize="small")
    drives = best["drive"].values[:, best.data["v_name"].values.tolist().index(f"{JOINT}.rate")]
    drive.plot(t, played["input"].values[:, 0], label="with play")
    drive.plot(best["time"].values, drives, "--", label="without")
    drive.set(xlabel="t [s]", ylabel="[N m]", title="torque of the elbow")
    drive.legend(loc="best")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> int:
    """Print the table and save the picture; the exit code counts motions that are no solution."""
    begin = time.perf_counter()
    robot, best, played = motions()
    seconds = time.perf_counter() - begin
    first, second = tips(robot, played)
    error = first - second
    head = ("motion", "solved", "iterations", "cost", "tip error, most [mm]")
    rows = [
        [name, x.completed, f"{np.nansum(x['iterations'].values):.0f}", f"{x.objective:.2f}", most]
        for name, x, most in (
            ("ideal joints", best, "0"),
            ("0.2 mm in the elbow", played, f"{np.linalg.norm(error, axis=1).max() / 1e-3:.4f}"),
        )
    ]
    print(
        f"{machine()}, {seconds:.0f} s in all\n{table(head, [[str(y) for y in x] for x in rows])}"
    )
    draw(Path("results") / "elbow_play.png", best, played, error)
    return sum(not x.completed for x in (best, played))


if __name__ == "__main__":
    sys.exit(main())
