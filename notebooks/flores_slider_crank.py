# %% [markdown]
"""
# The slider-crank of the clearance papers

A crank of 0.05 m turns a rod of 0.12 m at constant 5000 rpm; the piston pin is thinner than its
bore. Papers on joints with clearance begin with this mechanism [Flores 2010, Nonlinear Dyn. 61].
When does the pin fly, hit and slide, what does the drive feel, when is the motion periodic? This
lesson asks so of a rigid pin and of one that presses by a compliant law.

As a notebook it shows its pictures; as a script it leaves them in `results/`.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt

from nsopt import (
    GROUND,
    Body,
    Compiled,
    CompliantContact,
    ContactLaw,
    Driven,
    Flores,
    FollowContacts,
    Frame,
    Grid,
    LargestStep,
    Mechanism,
    Parameter,
    PlanarRevoluteClearance,
    Prismatic,
    Problem,
    Result,
    Revolute,
    Start,
    StepBounds,
    Variants,
    Variational,
    assemble,
    hertz_stiffness,
    simulate,
    sweep,
)
from nsopt.analysis import (
    SectionValues,
    Strobe,
    bifurcation,
    mode_statistics,
    poincare,
    quantity,
)
from nsopt.plots import contact_modes, orbits, save

# %% [markdown]
"""
## The mechanism

Lengths in metres, masses in kilograms. `Driven` turns the crank as it is told, whatever moment that
takes; the moment is on record. Clearance and friction are Parameters, so that one model serves many
runs. The pin is rigid, with restitution and Coulomb friction; or, inside a `CompliantContact`, it
presses by a law of the depth.
"""

# %%
CRANK, ROD, PIN = 0.05, 0.12, 0.01
SPEED = 5000 * 2 * np.pi / 60  # rad/s
ALONG_X = (1.0, 0.0, 0.0)


def model(soft=None, speed=SPEED, friction=0.01):
    """Return the slider-crank, with a rigid pin or one that presses by a law."""
    end = CRANK + ROD
    crank = Body("crank", 0.30, (1e-4, 1e-4, 1e-4))
    rod = Body("rod", 0.21, (2.5e-4, 2.5e-4, 2.5e-4), position=(CRANK + ROD / 2, 0, 0))
    slider = Body("slider", 0.14, (1e-4, 1e-4, 1e-4), position=(end, 0, 0))
    bearing = Revolute("bearing", Frame(GROUND), Frame(crank))
    joints = [
        bearing,
        Revolute("knee", Frame.at(crank, (CRANK, 0, 0)), Frame.at(rod, (CRANK, 0, 0))),
        Prismatic("guide", Frame(GROUND, axes=ALONG_X), Frame.at(slider, (end, 0, 0), ALONG_X)),
        Driven("motor", bearing, Parameter("speed", speed)),
    ]
    pin = PlanarRevoluteClearance(
        "pin",
        Frame.at(slider, (end, 0, 0)),
        Frame.at(rod, (end, 0, 0)),
        clearance=Parameter("clearance", 5e-4),
        radius=PIN,
        law=ContactLaw(restitution=0.9, friction=Parameter("mu", friction)),
    )
    contact = pin if soft is None else CompliantContact("pin", pin, soft)
    return assemble(Mechanism([crank, rod, slider], joints, "relative"), [contact], (0, -9.81, 0))


def start(dynamics, speed=SPEED):
    """Return the start: stretched out, the pin in the middle of its bore."""
    return Start.named(dynamics, {}, {"bearing": speed, "knee": -speed * (1 + CRANK / ROD)})


# %% [markdown]
"""
## Rigid beside compliant

Two turns with 0.5 mm of clearance. Steps of the rigid run end at its impacts, for the energy of
an impact is as exact as its time. The stiffness of the other is that of Hertz, for a steel pin.
"""

# %%
TURN = 2 * np.pi / SPEED
EXACT = LargestStep(contacts=FollowContacts(placed=1e-6))


def run(dynamics, title="", h=1e-6, **parameters):
    """Simulate two turns."""
    return simulate(
        dynamics,
        start(dynamics),
        2 * TURN,
        steps=StepBounds(1e-10, h),
        scheme=Variational(),
        solver=Compiled(),
        control=EXACT,
        parameters=parameters,
        title=title,
        progress=False,
    )


def last_turn(result):
    """Return the last turn of a run."""
    t = result["time"].values
    return Result(result.data.isel(time=t >= t[-1] - TURN))


rigid = run(model(), "rigid")
compliant = run(model(Flores(*hertz_stiffness(0.95 * PIN, -PIN))), "compliant")
print(rigid.summary(), end="\n\n")
print(compliant.summary())

# %% [markdown]
"""
## The journal's orbit

The way of the pin in its bore over the last turn, in colours for free flight, impact and lasting
contact. The compliant pin enters the wall by some hundredths of a millimetre where it hits. A rigid
one ends its flights by ever smaller rebounds, one long impact in the second picture.
"""

# %%
orbits(last_turn(rigid), last_turn(compliant))

# %%
contact_modes(last_turn(rigid), last_turn(compliant))

# %% [markdown]
"""
## Over the angle of the crank

Acceleration of the slider, moment of the drive and the force in the pin. Impacts of a rigid pin are
impulses, and are left out of these curves, which converge as steps get shorter; a compliant one has
its impacts in them, as peaks of some ten thousand newtons.
"""


# %%
def over_angle(ax, result, values, **look):
    """Draw values over the angle of the crank."""
    angle = quantity(result, "bearing.angle")
    ax.plot(np.degrees(angle - angle[0]), values, linewidth=0.8, **look)


def force(result):
    """Return the lasting force in the pin [N]."""
    return np.linalg.norm(result["lasting_force"].values[:, 0], axis=1)


def moment(result):
    """Return the moment of the drive without that of impacts of a rigid pin [N m]."""
    struck = np.nan_to_num(result["impact_impulse"].values[:, 0]) > 0
    return np.where(struck, np.nan, result["motor.torque"].values)


figure, axes = plt.subplots(3, 1, figsize=(8, 8), sharex=True, layout="constrained")
for result in (rigid, compliant):
    turn, name = last_turn(result), result.name
    over_angle(axes[0], turn, quantity(turn, "body_acceleration[slider, x]") / 1e3, label=name)
    over_angle(axes[1], turn, moment(turn))
    over_angle(axes[2], turn, force(turn) / 1e3)
axes[0].set_ylabel("slider [km/s²]")
axes[1].set_ylabel("moment of the drive [N m]")
axes[2].set(ylabel="force in the pin [kN]", xlabel="angle of the crank [deg]")
axes[0].legend(loc="lower center", ncols=2)

# %% [markdown]
"""
## Clearance and friction

The smaller the clearance, the less the pin flies; with 0.02 mm it stays on its wall. Friction takes
energy, and calms the pin.
"""

# %%
dynamics = model()
print("clearance      mu   free flight   impacts   dissipated a turn")
for clearance, mu in [(5e-4, 0.01), (2e-4, 0.01), (2e-5, 0.01), (5e-4, 0.1)]:
    second = last_turn(run(dynamics, h=2e-6, clearance=clearance, mu=mu))
    modes = mode_statistics(second)["pin"]
    lost = np.ptp(second["dissipated_energy"].values)
    print(
        f"{1e3 * clearance:6g} mm {mu:7g} {100 * modes.free:11.1f} % {modes.impacts:9d} "
        f"{lost:15.3f} J"
    )

# %% [markdown]
"""
## A Poincaré section

Speed and place of the slider at the outer dead centre, once a turn, over 40 turns; `times=` keeps
these states alone. With 0.5 mm the points scatter over half the clearance, with 0.02 mm they stay
together. Steps of 1e-5 s are enough to see it.
"""


# %%
def dead_centres(clearance, turns=40):
    """Return the states at the dead centre, all turns but the first 10."""
    result = simulate(
        dynamics,
        start(dynamics),
        turns * TURN,
        steps=StepBounds(1e-5, 1e-5),
        scheme=Variational(),
        solver=Compiled(),
        times=TURN * np.arange(1, turns + 1),
        parameters={"clearance": clearance},
        progress=False,
    )
    return poincare(result, Strobe(TURN), ["guide.distance", "guide.speed"], skip=10)


figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for clearance, marker in ((5e-4, "."), (2e-5, "x")):
    points = dead_centres(clearance)
    x = 1e3 * (points["guide.distance"] - ROD - CRANK)
    ax.plot(x, points["guide.speed"], marker, markersize=4, label=f"{1e3 * clearance:g} mm")
ax.set(xlabel="slider, off that of ideal joints [mm]", ylabel="speed of the slider [m/s]")
ax.legend()

# %% [markdown]
"""
## A bifurcation diagram over speed

The speed of the slider at the dead centre over that of the crank's end, in the last 12 of 24 turns,
with 0.5 mm of clearance: many points at all speeds with mu = 0.01, for no turn repeats
another; with mu = 0.1 one point, a motion of one turn. Such a diagram should be drawn with shorter
steps too: between mu = 0.03 and 0.06 periods of one turn and of two lie so close together that the
length of the step decides.
"""


# %%
def at_speed(rpm=5000.0, mu=0.01):
    """Return 24 turns at a speed, in 1000 steps each."""
    speed = rpm * 2 * np.pi / 60
    period = 2 * np.pi / speed
    dynamics = model(speed=speed, friction=mu)
    steps = StepBounds(period / 1000, period / 1000)
    return Problem(dynamics, 24 * period, steps, start(dynamics, speed))


def relative_speed(result):
    """Return the speed of the slider over that of the crank's end."""
    return quantity(result, "guide.speed") / (CRANK * quantity(result, "bearing.rate")[0])


class OnceATurn(Strobe):
    """A section at each turn, whatever the speed of a run."""

    def times(self, result):
        """Return the times of the outer dead centre."""
        return Strobe(2 * np.pi / quantity(result, "bearing.rate")[0]).times(result)


data = sweep(
    Variants(at_speed),
    Grid({"rpm": np.arange(1000, 6000, 2000), "mu": [0.01, 0.1]}),
    measure={"points": SectionValues(relative_speed, OnceATurn(1.0), last=12)},
    scheme=Variational(),
    solver=Compiled(),
    workers=1,
    progress=False,
)
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
for mu, marker in ((0.01, "."), (0.1, "x")):
    points = bifurcation(data.sel(mu=mu))
    ax.plot(points["rpm"], points["points"], marker, markersize=4, label=f"mu = {mu:g}")
ax.set(xlabel="speed [rpm]", ylabel="slider's speed / crank's")
ax.legend(loc="upper left", ncols=2)
ax.set_ylim(top=0.11)

# %%
# What a script has drawn; a notebook has shown it by now.
for k in plt.get_fignums():
    save(plt.figure(k), f"results/flores_slider_crank_{k}.png")
