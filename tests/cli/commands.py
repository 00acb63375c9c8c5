"""Commands, called as a user does."""

from typer.testing import CliRunner

from nsopt.cli import BAD_INPUT, app

DROP = '''"""A ball dropped on a plane."""
from nsopt import *
ball = Body("ball", mass=Parameter("mass", 1.0), position=(0, 0, HEIGHT), point_mass=True)
ground = PlaneContact("ground", Frame(GROUND), Frame(ball))
dynamics = assemble(Mechanism([ball]), [ground], gravity=(0, 0, -9.81))
problem = Problem(dynamics, duration=0.2, steps=StepBounds(1e-3, 1e-2))
'''


def call(*arguments, code=0):
    outcome = CliRunner().invoke(app, [str(a) for a in arguments])
    assert outcome.exit_code == code, outcome.output
    return outcome


def complaint(*arguments):
    """Return the one line that a bad call prints."""
    lines = [x for x in call(*arguments, code=BAD_INPUT).stderr.splitlines() if "error: " in x]
    assert len(lines) == 1
    return lines[0]
