"""A cart that is thrown forward and must come back without passing 1/9 m: least effort 4.

[Bryson, Denham 1963]: half the integral of the squared force is 4 / (9 l).
"""

from _models import cart

from nsopt.trajectory import Effort, EndAt, Horizon, Optimization, StartAt, Straight, Within

optimization = Optimization(
    cart(),
    Horizon(1.0, steps=90),
    [Effort(weight=0.5)],
    [StartAt([0.0], [1.0]), EndAt([0.0], [-1.0]), Within("rail.distance", upper=1 / 9)],
    Straight([0.0], [0.0]),
)
