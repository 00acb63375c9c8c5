"""Options of `simulate`: what is refused before a run, and names."""

import pytest

from nsopt import Body, Mechanism, Solver, StepBounds, assemble, simulate


@pytest.mark.parametrize("every", [1.5, 0, -1, "2", 2.0])
def test_a_part_of_a_step_cannot_be_kept(every):
    """Refused before the run, which would take a thousand steps."""
    dynamics = assemble(Mechanism([Body("ball", 1.0, point_mass=True)]))
    with pytest.raises(ValueError, match=f"store_every must be a whole number.* got {every!r}"):
        simulate(dynamics, steps=StepBounds(1e-3, 1e-3), store_every=every)


def test_a_title_that_no_file_can_hold_is_refused():
    dynamics = assemble(Mechanism([Body("ball", 1.0, point_mass=True)]))
    with pytest.raises(ValueError, match="title must be text that files can hold"):
        simulate(dynamics, steps=StepBounds(1e-3, 1e-3), title="a\0b")


def test_the_name_of_a_mechanism_names_its_runs():
    ball = Body("ball", 1.0, point_mass=True)
    d = assemble(Mechanism([ball], name="falling ball"), [])
    runs = simulate(d, duration=1e-3, steps=StepBounds(1e-3, 1e-3), solver=Solver(), progress=False)
    assert runs.name == "falling ball"
