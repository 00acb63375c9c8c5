"""Andrews' squeezer: seven bodies in three planar loops, driven to 1100 rad/s within 30 ms.

IFToMM benchmark A03 and the problem "andrews" of the IVP test set; the names of lengths and angles
are those of its description [Hairer, Wanner, Solving ODE II, VII.7].
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nsopt import (
    GROUND,
    AppliedTorque,
    Body,
    Dynamics,
    Frame,
    Mechanism,
    PointOnLine,
    Problem,
    Result,
    Revolute,
    SpringDamper,
    StepBounds,
    assemble,
)

Point = tuple[float, float]
Pin = type[PointOnLine] | type[Revolute]

START = {  # rad
    "beta": -0.0617138900142764496358948458001,
    "Theta": 0.0,
    "gamma": 0.455279819163070380255912382449,
    "Phi": 0.222668390165885884674473185609,
    "delta": 0.487364979543842550225598953530,
    "Omega": -0.222668390165885884674473185609,
    "epsilon": 1.23054744454982119249735015568,
}
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)  # kg
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)  # kg m^2
O, A, B, C = (0.0, 0.0), (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)  # m, fixed
TORQUE = 0.033  # N m, on K1
STIFFNESS, FREE_LENGTH = 4530.0, 0.07785  # N/m, m: from C to K3

# Points of each body [m] in axes that turn with it, from the pin by which it hangs on its parent;
# c is its centre of mass, P the pin that K2, K3, K4 and K6 share.
POINTS: dict[str, dict[str, Point]] = {
    "K1": {"c": (92e-5, 0), "K2": (7e-3, 0)},  # ra, rr
    "K2": {"c": (-115e-4, 0), "P": (-28e-3, 0)},  # da, d
    "K3": {"c": (1043e-5, -1874e-5), "P": (0, -35e-3), "spring": (2e-2, -18e-3)},
    "K4": {"c": (0, -(2e-2 - 1421e-5)), "P": (0, -2e-2)},  # e, ea
    "K5": {"c": (2308e-5, 916e-5), "K4": (4e-2, 0)},  # ta, tb, zt
    "K6": {"c": (2e-2 - 1421e-5, 0), "P": (2e-2, 0)},  # zf, fa
    "K7": {"c": (-449e-5, -1228e-5), "K6": (0, -4e-2)},  # ub, ua, u
}


def turned(angle: float, point: Point) -> NDArray[np.float64]:
    """Return a point of the plane turned about the origin."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1]])


def directions(angles: Mapping[str, float]) -> dict[str, float]:
    """Return how far each body is turned [rad]: three of the seven angles are relative."""
    a = angles
    return {
        "K1": a["beta"],
        "K2": a["beta"] + a["Theta"],
        "K3": a["gamma"],
        "K4": a["delta"] + a["Phi"],
        "K5": a["delta"],
        "K6": a["epsilon"] + a["Omega"],
        "K7": a["epsilon"],
    }


def hangs(turns: Mapping[str, float]) -> dict[str, NDArray[np.float64]]:
    """Return where each body hangs on its parent [m], in the plane."""
    at = {"K1": np.array(O), "K3": np.array(B), "K5": np.array(A), "K7": np.array(A)}
    for child, parent in (("K2", "K1"), ("K4", "K5"), ("K6", "K7")):
        at[child] = at[parent] + turned(turns[parent], POINTS[parent][child])
    return at


def members() -> dict[str, Body]:
    """Return the bodies at the start, at rest; in the plane the inertia about z alone matters."""
    turns = directions(START)
    at = hangs(turns)
    return {
        name: Body(
            name,
            m,
            (J, J, J),
            position=(*(at[name] + turned(turns[name], POINTS[name]["c"])), 0.0),
            orientation=(np.cos(turns[name] / 2), 0.0, 0.0, np.sin(turns[name] / 2)),
        )
        for name, m, J in zip(POINTS, MASSES, INERTIAS, strict=True)
    }


def point_of(body: Body, point: Point) -> Frame:
    """Return the frame at a point given from the pin by which the body hangs."""
    c = POINTS[body.name]["c"]
    return Frame(body, (point[0] - c[0], point[1] - c[1], 0.0))


def mechanism(coordinates: str = "absolute", closing: Pin = PointOnLine) -> Mechanism:
    """Return the seven bodies with their ten pins.

    Parameters
    ----------
    coordinates
    closing : type
        Of the three pins at P. `PointOnLine` holds what the plane leaves to hold; `Revolute` is
        what is built, and nine rows of them are redundant.
    """
    bodies = members()

    def hung(name: str, parent: str | Point) -> Revolute:
        own = point_of(bodies[name], (0.0, 0.0))
        if isinstance(parent, str):
            return Revolute(f"{parent}-{name}", point_of(bodies[parent], POINTS[parent][name]), own)
        return Revolute(f"ground-{name}", Frame(GROUND, (*parent, 0.0)), own)

    joints = [
        hung("K1", O),
        hung("K2", "K1"),
        hung("K3", B),
        hung("K5", A),
        hung("K4", "K5"),
        hung("K7", A),
        hung("K6", "K7"),
    ]
    shared = point_of(bodies["K2"], POINTS["K2"]["P"])
    pins = [
        closing(f"K2-{name}", shared, point_of(bodies[name], POINTS[name]["P"]))
        for name in ("K3", "K4", "K6")
    ]
    return Mechanism(bodies.values(), [*joints, *pins], coordinates=coordinates)


def model(coordinates: str = "absolute", closing: Pin = PointOnLine) -> Dynamics:
    """Return the assembled squeezer with drive and spring; without gravity."""
    squeezer = mechanism(coordinates, closing)
    bodies = {body.name: body for body in squeezer.bodies}
    drive = AppliedTorque("drive", Frame(bodies["K1"]), (0.0, 0.0, TORQUE))
    spring = SpringDamper(
        "spring",
        Frame(GROUND, (*C, 0.0)),
        point_of(bodies["K3"], POINTS["K3"]["spring"]),
        STIFFNESS,
        free_length=FREE_LENGTH,
    )
    return assemble(squeezer, [drive, spring])


def angles(result: Result) -> NDArray[np.float64]:
    """Return beta, Theta, ..., epsilon over time [rad], shape (time, 7), turns counted.

    Steps must be stored often enough for no body to turn by half a turn between two of them.
    """
    p = result["body_quaternion"].values
    turns = np.unwrap(2 * np.arctan2(p[..., 3], p[..., 0]), axis=0)
    begin = np.array(list(directions(START).values()))
    turns += 2 * np.pi * np.round((begin - turns[0]) / (2 * np.pi))
    k1, k2, k3, k4, k5, k6, k7 = turns.T
    return np.column_stack([k1, k2 - k1, k3, k4 - k5, k5, k6 - k7, k7])


problem = Problem(model(), duration=0.03, steps=StepBounds(5e-6, 2e-5))
