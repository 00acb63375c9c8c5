"""An arm of seven joints read from a URDF file, between two poses with least joint resistance.

Pads and cones limit its joints, shoulder and wrist; the quintic between the poses keeps all limits.
"""

from _urdf_arm import least_resistance, urdf_dynamics

optimization = least_resistance(urdf_dynamics(), seed=0)
