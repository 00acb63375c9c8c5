"""
A pendulum drops through its clearance and swings
=================================================

Both ends of the bushing fall straight down from the middle of the circle and meet its wall after
14.28 ms; then they slide to and fro on its lower third. Force, modes of contact and energy show the
one impact, and the swing after it.
"""

from nsopt import StepBounds, load_problem, simulate
from nsopt.plots import contact_forces, contact_modes, energies, overview

pendulum = load_problem("case_a").dynamics
result = simulate(pendulum, duration=2.0, steps=StepBounds(1e-6, 1e-4), title="case_a")
hits = result["impact_impulse"].values.sum(axis=1) > 0
impact = float(result["time"].values[hits][0])  # s
print(f"the pin meets the wall after {1e3 * impact:.2f} ms")

overview(result)
contact_forces(result)
contact_modes(result)
energies(result)
