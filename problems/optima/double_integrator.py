"""A cart from 0 to 1 m in 1 s, rest to rest, at least integral of the squared force: 12."""

from _models import cart

from nsopt.trajectory import Effort, EndAt, Horizon, Optimization, StartAt, Straight

optimization = Optimization(
    cart(),
    Horizon(1.0, steps=20),
    [Effort()],
    [StartAt([0.0], [0.0]), EndAt([1.0], [0.0])],
    Straight([0.0], [1.0]),
)
