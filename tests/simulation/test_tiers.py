"""Steps that are interpreted and steps by machine code have the same bits."""

from time import thread_time

import numpy as np
import pytest

from nsopt import (
    GROUND,
    Body,
    Check,
    Composition,
    ContactLaw,
    Frame,
    Mechanism,
    Revolute,
    RevoluteClearance,
    StepBounds,
    Variational,
    assemble,
    batch_step,
    simulate,
)
from nsopt.leaves import INTERPRETED, MappedLeaf, leaf
from nsopt.simulation import StepKernel, step_kernel

H = 1e-3


def rods(joint):
    """Return two rods that swing from each other, each model its own."""
    rods = [Body(f"rod{k}", 1.3, (1e-3, 0.1, 0.1), position=(0.5 + k, 0, 0)) for k in range(2)]
    ends = [Frame(GROUND), Frame.at(rods[0], (1, 0, 0))]
    joints = [joint(f"hinge{k}", ends[k], Frame.at(rods[k], (k, 0, 0))) for k in range(2)]
    ideal = joint is Revolute
    mechanism = Mechanism(rods, joints if ideal else (), "relative" if ideal else "absolute")
    return assemble(mechanism, () if ideal else joints, gravity=(0, -9.81, 0))


def worn(*at):
    law = ContactLaw(friction=0.2)
    return RevoluteClearance(*at, clearance=1e-3, length=0.1, axial_clearance=1e-3, law=law)


MODELS = {"contacts": (worn, Variational()), "programs that repeat": (Revolute, Composition())}


def numbers(joint, scheme):
    bounds = StepBounds(H, H)
    data = simulate(
        rods(joint), duration=0.04, steps=bounds, scheme=scheme, check=None, progress=False
    ).data
    return np.concatenate([data[name].values.ravel() for name in ("q", "v", "h", "impulse")])


@pytest.mark.parametrize("model", MODELS)
def test_steps_have_the_same_bits_at_all_levels(model, monkeypatch):
    """The third run begins interpreted, and goes on by machine code as soon as there is some."""
    make, found = StepKernel.__init__, []
    for level in (INTERPRETED, 0, None):
        soon = 0.0 if level is None else np.inf
        monkeypatch.setattr(leaf, "SOON", soon)
        monkeypatch.setattr(step_kernel, "SHORT", 0.0 if level is None else 0.05)

        def make_at(kernel, *given, level=level, **options):
            make(kernel, *given, **options)
            for one in kernel._leaves if level == 0 else ():
                one.compile(level)

        monkeypatch.setattr(StepKernel, "__init__", make_at)
        found.append(numbers(*MODELS[model]))
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_results_have_the_same_bytes_by_all_code(monkeypatch):
    """Whatever code evaluates what is recorded; NaN, of which there are many kinds, included."""
    make, mapped, found = MappedLeaf.__init__, [], []

    def kept(one, *given):
        make(one, *given)
        mapped.append(one)

    monkeypatch.setattr(MappedLeaf, "__init__", kept)
    dynamics = rods(worn)
    for level in (None, 0, 2):
        for one in mapped if level is not None else ():
            one.compile(level)
        data = simulate(dynamics, duration=0.02, steps=StepBounds(H, H), check=None, progress=False)
        found.append({name: x.values for name, x in data.data.items() if name != "solve_time"})
    assert mapped
    assert np.isnan(found[0]["joint_reaction_torque"]).any()
    for other in found[1:]:
        for name in (name for name in other if other[name].dtype.kind != "O"):
            assert other[name].tobytes() == found[0][name].tobytes(), name


def test_many_states_go_on_by_machine_code(monkeypatch):
    """Interpreted in two threads, and from the next attempts on not."""
    monkeypatch.setattr(leaf, "SOON", np.inf)
    found = []
    for level in (INTERPRETED, 0):
        batch = batch_step(rods(Revolute), 3, H, substeps=20, threads=2)
        batch.step()
        if level == 0:
            for one in batch._kernel._leaves:
                one.compile(level)
        batch.step()
        found.append(batch.q)
    np.testing.assert_array_equal(*found)


def test_a_run_counts_for_its_check_what_machine_code_would_take(monkeypatch):
    """Which repetitions there are does not depend on what code is ready."""
    monkeypatch.setattr(leaf, "SOON", np.inf)
    seconds, call, measure = [], StepKernel.__call__, Check.measure

    def timed(kernel, *given):
        begin = thread_time()
        found = call(kernel, *given)
        seconds.append(thread_time() - begin)
        return found

    def told(check, of, *given):
        told.took, told.counted = sum(seconds), of.seconds
        return measure(check, of, *given)

    monkeypatch.setattr(StepKernel, "__call__", timed)
    monkeypatch.setattr(Check, "measure", told)
    simulate(rods(worn), duration=0.6, steps=StepBounds(H, H), check=Check(), progress=False)
    assert 0 < told.counted < told.took / 2
