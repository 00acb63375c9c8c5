"""What theory says of the mechanisms of the gallery, by formulas and equations of its own."""

import numpy as np
import pinocchio
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve
from scipy.special import ellipk

from nsopt.problem import problem_folder

G = 9.81  # m/s^2


def door(x):
    """Return by how much the centre sags: the outermost ends of the bushings touch."""
    lean = 2 * x["CLEARANCE"] / (1.7 - 0.3 + x["LENGTH"])
    return x["AXIAL"] + 0.45 * lean


def first_impact(x):
    """Return the impulses of a rod's end that falls through the clearance."""
    mass = 0.09 / (0.09 + x["ARM"] ** 2)
    return mass * np.sqrt(2 * G * x["clearances"])


def oil_film(x):
    """Return the eccentricity of Ocvirk's short bearing under a load at rest."""
    size = x["VISCOSITY"] * x["SPEED"] * x["RADIUS"] * x["LENGTH"] ** 3 / (4 * x["CLEARANCE"] ** 2)

    def excess(e):
        return size * e / (1 - e**2) ** 2 * np.sqrt(np.pi**2 * (1 - e**2) + 16 * e**2) - x["LOAD"]

    return brentq(excess, 1e-3, 0.99)


def gough_platform(x):
    """Return how far the platform moves if leg 1 is longer and shorter by the clearance."""
    feet, tops = np.array(x["feet"]), np.array(x["tops"])
    along = (tops - feet) / np.linalg.norm(tops - feet, axis=1)[:, None]
    rows = np.column_stack([along, np.cross(tops - [0, 0, x["HEIGHT"]], along)])
    return np.linalg.norm(np.linalg.solve(rows, [2 * x["CLEARANCE"], 0, 0, 0, 0, 0])[:3])


def twisting(x):
    """Return where a body of constant twist, in its own axes, is after 5 s."""
    turned = 5 * x["TURNING"]
    s, c = np.sin(turned) / x["TURNING"], (1 - np.cos(turned)) / x["TURNING"]
    return [x["AHEAD"] * s - x["SIDEWAYS"] * c, x["AHEAD"] * c + x["SIDEWAYS"] * s]


def tumbling(x):
    """Return the period of a free body about its middle axis [Landau, Lifshitz, Mechanics, 37]."""
    (a, b, c), spin, nudge = x["INERTIA"], x["SPIN"], x["NUDGE"]
    energy, momentum = a * nudge**2 + b * spin**2, (a * nudge) ** 2 + (b * spin) ** 2
    if momentum < energy * b:
        a, c = c, a
    rate = np.sqrt((c - b) * (momentum - energy * a) / (a * b * c))
    square = (b - a) * (energy * c - momentum) / ((c - b) * (momentum - energy * a))
    return 4 * ellipk(square) / rate


def impact_laws(x):
    """Return the restitution by Hunt and Crossley, and by Gonthier, where 0.1 is stated."""
    k = 3 * (1 - x["stated"][0]) / 2
    hunt = brentq(lambda e: k * (1 + e) - np.log((1 + k) / (1 - k * e)), 0.1, 0.999 / k)
    return [hunt, x["stated"][0]]


def rocking_block(x):
    """Return Housner's ratio of the rates after and before an impact."""
    return 1 - 1.5 * x["WIDE"] ** 2 / (x["WIDE"] ** 2 + x["HIGH"] ** 2)


def cantilever(x):
    """Return the first frequency of a clamped beam of Euler and Bernoulli."""
    I, A = np.pi * x["RADIUS"] ** 4 / 4, np.pi * x["RADIUS"] ** 2
    return 1.8751041**2 / (2 * np.pi * x["LENGTH"] ** 2) * np.sqrt(7e10 * I / (2700 * A))


def crane(x):
    """Return the least time, the force switched thrice and symmetric in time."""
    M, m, l, J = 2.0, 1.0, 1.0, 0.01

    def rate(t, y, force):
        s, c = np.sin(y[2]), np.cos(y[2])
        A = [[M + m, m * l * c], [m * l * c, m * l**2 + J]]
        a, turn = np.linalg.solve(A, [force + m * l * s * y[3] ** 2, -m * G * l * s])
        return [y[1], a, y[3], turn]

    def middle(times):
        y = np.zeros(4)
        for force, duration in zip((x["FORCE"], -x["FORCE"]), times, strict=True):
            path = solve_ivp(rate, (0, duration), y, args=(force,), rtol=1e-9, atol=1e-11)
            y = path.y[:, -1]
        return [y[0] - x["DISTANCE"] / 2, y[2]]

    return 2 * sum(fsolve(middle, [0.65, 0.33]))


def cycloid_time(x):
    """Return the least time of a bead to a point 2 m aside and 2 m below."""
    del x
    end = brentq(lambda a: (a - np.sin(a)) / (1 - np.cos(a)) - 1, 1.0, 4.0)
    return end * np.sqrt(2.0 / (1 - np.cos(end)) / G)


def bouncing_ball(x):
    """Return when the series of bounces ends."""
    e = x["RESTITUTION"]
    return np.sqrt(2 * x["HEIGHT"] / G) * (1 + e) / (1 - e)


def resistance(x):
    """Return the integral of the squared damping moments of CHARMIE's arm [N^2 m^2 s]."""
    motion = x["best"].sample(1e-3)
    damping = [drive.damping for drive in x["task"].dynamics.mechanism.actuators]
    squares = np.sum((motion["v"].values * damping) ** 2, axis=1)
    return np.trapezoid(squares, motion["time"].values)


def drives(x):
    """Return the torques of the first motion of the arm of seven joints, by pinocchio."""
    arm = pinocchio.buildModelFromUrdf(str(problem_folder() / "arm_7dof" / "arm_7dof.urdf"))
    data, motion = arm.createData(), x["found"][0].sample(times=x["found"][0]["time"].values)
    rows = zip(motion["q"].values, motion["v"].values, motion["a"].values, strict=True)
    links = np.array([pinocchio.rnea(arm, data, *row) for row in rows])
    return links + motion["v"].values * [drive.damping for drive in x["arm"].actuators]


def cam(x):
    """Return the height of the follower, by the triangle of bearing, middle and roller [m]."""
    e, r = x["ECCENTRICITY"], x["RADIUS"]
    return e * np.sin(x["angle"]) + np.sqrt(r**2 - (e * np.cos(x["angle"])) ** 2)


def nut_on_screw(x):
    """Return the ways down within half a second [m]."""
    turned = x["J"] / (x["MASS"] * (x["pitches"] / (2 * np.pi)) ** 2)
    return G / (1 + turned) * 0.5**2 / 2
