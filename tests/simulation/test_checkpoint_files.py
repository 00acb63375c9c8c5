"""Files of checkpoints: written whole or not at all, each step once; others are refused."""

import json
from dataclasses import replace
from itertools import product

import h5py
import numpy as np
import pytest

from nsopt import Checkpoint, ContactLaw, PaperStep, Solver, Start, StepBounds, assemble, simulate
from nsopt.mpcc import Newton, ProximalPoints
from nsopt.schemes import Variational
from nsopt.simulation import Compiled, ErrorControl
from nsopt.simulation.checkpoint import hdf5, identity
from nsopt.simulation.record import accepted_steps as taken
from tests.simulation.checkpoints import CASE_A, FINE, Full, assert_same, files, run


def resumed(folder):
    return Checkpoint(folder, resume=True)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return the folder of a checkpoint of a run that came to its end."""
    keep = Checkpoint(tmp_path_factory.mktemp("kept") / "run.checkpoint", steps=500)
    run(checkpoint=keep)
    assert len(files(keep)) == 6
    return keep.folder


@pytest.fixture
def copy(kept, tmp_path):
    for file in kept.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return Checkpoint(tmp_path)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The only file of a checkpoint whose steps are all pending."""
    keep = Checkpoint(tmp_path_factory.mktemp("few"), steps=500)
    run(checkpoint=keep, store_every=4000)
    return keep.folder / "head.h5"


@pytest.fixture
def few(written, tmp_path):
    (tmp_path / "few").mkdir()
    (tmp_path / "few" / "head.h5").write_bytes(written.read_bytes())
    return Checkpoint(tmp_path / "few")


LIGHTER = assemble(CASE_A.dynamics.mechanism, CASE_A.dynamics.elements, (0.0, 0.0, -1.6))
MOVED = Start(*(x + dx for x, dx in zip(CASE_A.dynamics.stated_start(), (0, 1e-3), strict=True)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dynamics": LIGHTER}, ["model was ", ", is "]),
        ({"parameters": {"clearance": 2e-3}}, ["parameter.clearance was 0.001, is 0.002"]),
        ({"start": MOVED}, ["start.v.pendulum.vx was 0, is 0.001"]),
        ({"duration": 0.4}, ["duration was 0.3, is 0.4"]),
        ({"steps": StepBounds(1e-5, 1e-4)}, ["steps.h_min was 0.0001, is 1e-05"]),
        ({"steps": StepBounds(1e-4, 2e-4)}, ["steps.h_max was 0.0001, is 0.0002"]),
        ({"scheme": Variational(closed=1e-7)}, ["scheme.closed was 1e-08, is 1e-07"]),
        ({"scheme": PaperStep()}, ["scheme was Variational, is PaperStep"]),
        ({"solver": Solver()}, ["solver was Compiled, is Solver"]),
        (
            {"solver": Compiled(Newton(points=ProximalPoints(steps=3)))},
            [f"solver.newton.points.steps was {ProximalPoints().steps}, is 3"],
        ),
        ({"control": ErrorControl(1e-6)}, ["control was LargestStep, is ErrorControl"]),
        ({"store_every": 2}, ["store_every was 1, is 2"]),
    ],
)
def test_another_run_is_refused(kept, options, words):
    dynamics = options.pop("dynamics", CASE_A.dynamics)
    stated = {"duration": 0.3, "steps": FINE, "scheme": Variational(), "solver": Compiled()}
    with pytest.raises(ValueError, match="is of another run") as error:
        simulate(dynamics, checkpoint=resumed(kept), progress=False, **stated | options)
    for word in (*words, str(kept), "start the run anew"):
        assert word in str(error.value)


def test_another_version_is_refused(kept, monkeypatch):
    monkeypatch.setattr(identity, "version", lambda name: f"9 of {name}")
    with pytest.raises(ValueError, match=r"version\.casadi was .*, is 9 of casadi"):
        run(checkpoint=resumed(kept))


def test_without_a_checkpoint_there_is_nothing_to_resume(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no checkpoint in .*nothing"):
        run(checkpoint=resumed(tmp_path / "nothing"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("number", "damage"),
    [
        *product(range(6), ["a bit", "cut", "empty", "another"]),
        *product(range(5), ["missing"]),  # without its head there is no checkpoint
    ],
)
def test_damage_is_found(copy, number, damage):
    """To any file of five blocks and the head."""
    name = files(copy)[number]
    file = copy.folder / name
    content = file.read_bytes()
    if damage == "missing":
        file.unlink()
    elif damage == "a bit":
        at = len(content) // 2
        file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    elif damage == "another":
        file.write_bytes((copy.folder / files(copy)[number - 1]).read_bytes())
    else:
        file.write_bytes(content[: -100 if damage == "cut" else 0])
    with pytest.raises((ValueError, KeyError), match="is damaged") as error:
        run(checkpoint=resumed(copy.path))
    assert name in str(error.value)
    assert "start the run anew" in str(error.value)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"blocks": {}}, r"blocks have 0 of its 2500 steps \(count\)"),
        ({"count": 1}, r"blocks have 2500 of its 1 steps \(count\)"),
        ({"blocks": None}, "it lacks blocks"),
        ({"trial": None, "t": None}, "it lacks t, trial"),
        ({"t": 9.0}, "t is not that of the last of its steps"),
        ({"t": np.nan}, "t is not what a run writes: nan"),
        ({"t": "soon"}, "t is not what a run writes: 'soon'"),
        ({"warm": [[1]]}, r"warm is not what a run writes: \[\[1\]\]"),
        ({"blocks": {"../x.h5": ""}}, "blocks is not what a run writes: .*"),
    ],
)
def test_a_head_that_does_not_fit_its_blocks_is_refused(copy, changed, words):
    """A file that is whole, but has other facts than a run writes; None leaves a fact out."""
    file = copy.folder / "head.h5"
    arrays, facts, _ = hdf5.read(file)
    hdf5.write(file, arrays, {k: v for k, v in (facts | changed).items() if v is not None})
    with pytest.raises(ValueError, match=f"is damaged, head.h5: {words}; .* start the run anew"):
        run(checkpoint=resumed(copy.path))


@pytest.mark.parametrize("rewritten", [False, True])
@pytest.mark.parametrize("name", ["v", "z", "pending_q", "pending_tried", "pending_texts", "facts"])
@pytest.mark.parametrize("change", ["missing", "nested", "text", "one more", "longer than all"])
def test_a_field_that_a_run_does_not_write_is_named(few, name, change, rewritten):
    """The checksums of HDF5 fit; the hashes, too, where whoever changed it ``rewrote`` them."""
    changed = {
        "nested": np.frombuffer(b"[" * 10**5, np.uint8),
        "text": np.array(b"1"),
        "one more": np.ones((3, 4, 5)),
    }.get(change)
    with h5py.File(few.folder / "head.h5", "r+") as file:
        del file[name]
        if changed is not None:
            file[name] = changed
        elif change == "longer than all":
            file.create_dataset(name, (10**9, 10**4), "f8", chunks=(100, 100))
        if rewritten:
            arrays = {x: np.asarray(file[x]) for x in file if file[x].size < 10**6}
            known = {x: hdf5._hash(arrays[x]) for x in arrays if x != "hashes"}
            del file["hashes"]
            file["hashes"] = np.frombuffer(json.dumps(known).encode(), np.uint8)
    with pytest.raises(ValueError, match=r"^[^\n]*start the run anew$") as error:
        run(checkpoint=resumed(few.path), store_every=4000)
    assert name.removeprefix("pending_") in str(error.value)


@pytest.mark.parametrize(
    "name",
    ["q", *(f"pending_{x}" for x in ("q", "t", "h", "iterations", "contact_mode", "impulse"))],
)
@pytest.mark.parametrize("value", [np.nan, -7.0])
def test_a_number_that_no_run_writes_is_named(few, name, value):
    file = few.folder / "head.h5"
    arrays, facts, _ = hdf5.read(file)
    x = arrays[name].copy()
    x[-1] = value
    hdf5.write(file, arrays | {name: x}, facts)
    with pytest.raises(ValueError, match=rf"damaged, head\.h5: ({name} |q is not |t of its )"):
        run(checkpoint=resumed(few.path), store_every=4000)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("impact_impulse", 7.0, "impact_impulse contradicts what else"),
        ("retries", 3.0, "retries contradicts what else"),
        ("contact_mode", 2.0, "contact_mode contradicts what else"),
    ],
)
def test_a_block_that_contradicts_itself_is_refused(copy, name, value, words):
    """Whoever changed it renewed all hashes."""
    number, head = files(copy)[1], copy.folder / "head.h5"
    columns, _, _ = hdf5.read(copy.folder / number)
    changed = columns[name].copy()
    changed[-1] = value
    block = hdf5.write(copy.folder / number, columns | {name: changed}, {})
    arrays, facts, _ = hdf5.read(head)
    hdf5.write(head, arrays, facts | {"blocks": facts["blocks"] | {number: block}})
    with pytest.raises(ValueError, match=f"is damaged, .*: {words}"):
        run(checkpoint=resumed(copy.path))


@pytest.mark.parametrize(("entry", "value"), [(0, 0.151), (3, 1e-3), (8, 1.0), (-2, np.nan)])
def test_a_chain_that_goes_on_from_elsewhere_is_refused(few, entry, value):
    """It might go on for ever."""
    arrays, facts, _ = hdf5.read(few.folder / "head.h5")
    z = arrays["z"].copy()
    z[entry] = value
    hdf5.write(few.folder / "head.h5", arrays | {"z": z}, facts)
    with pytest.raises(ValueError, match=r"damaged, head\.h5: z "):
        run(checkpoint=resumed(few.path), store_every=4000)


def test_multipliers_of_another_size_are_named(tmp_path):
    options = {"duration": 2e-3, "scheme": PaperStep()}
    keep = Checkpoint(tmp_path / "run", steps=5)
    run(checkpoint=keep, **options)
    arrays, facts, _ = hdf5.read(keep.folder / "head.h5")
    hdf5.write(keep.folder / "head.h5", arrays | {"lam_x_0_0": arrays["lam_x_0_0"][1:]}, facts)
    with pytest.raises(ValueError, match=r"damaged, head\.h5: lam_x_0_0 and x_0_0 are of "):
        run(checkpoint=resumed(keep.path), **options)


def test_an_altered_fact_is_named(few):
    with h5py.File(few.folder / "head.h5", "r+") as file:
        facts = json.loads(file["facts"][()].tobytes()) | {"count": 7}
        del file["facts"]
        file["facts"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    with pytest.raises(ValueError, match=r"damaged, head\.h5: count is not what was written"):
        run(checkpoint=resumed(few.path), store_every=4000)


def test_altered_steps_are_refused(few):
    """By as little as the last bit, with the checksum of HDF5 that fits."""
    with h5py.File(few.folder / "head.h5", "r+") as file:
        x = file["pending_q"][()]
        x[3, 1] = np.nextafter(x[3, 1], 1)
        file["pending_q"][...] = x
    with pytest.raises(ValueError, match=r"damaged, head\.h5: 'pending_q' is not what was written"):
        run(checkpoint=resumed(few.path), store_every=4000)


def test_a_block_of_another_run_is_refused(copy, tmp_path):
    """Also one that is whole and says that it has this name."""
    other = Checkpoint(tmp_path / "other", steps=500)
    run(checkpoint=other, start=MOVED)
    name, stranger = files(copy)[1], files(other)[1]
    hdf5.write(copy.folder / name, hdf5.read(other.folder / stranger)[0], {})
    with pytest.raises(ValueError, match=f"{name}: it is not the block that its head names"):
        run(checkpoint=resumed(copy.path))


@pytest.mark.parametrize("link", ["folder", "head.h5"])
def test_no_checkpoint_is_used_through_a_link(few, tmp_path, link):
    """Whoever may write to a shared folder could lead a run to files of the user's elsewhere."""
    shared = tmp_path / "shared"
    if link == "folder":
        shared.symlink_to(few.folder)
    else:
        shared.mkdir()
        (shared / "head.h5").symlink_to(few.folder / "head.h5")
    before = (few.folder / "head.h5").read_bytes()
    with pytest.raises((OSError, ValueError), match="link"):
        run(checkpoint=Checkpoint(shared, steps=500), store_every=4000)
    with pytest.raises((OSError, ValueError), match=r"link|damaged"):
        run(checkpoint=resumed(shared), store_every=4000)
    assert (few.folder / "head.h5").read_bytes() == before


def test_a_checkpoint_before_the_first_kept_step_has_no_block(tmp_path):
    """Every 4000th step is kept, a checkpoint written after 500: all its steps are in the head."""
    keep = Checkpoint(tmp_path, steps=500)
    whole = run(checkpoint=keep, store_every=4000)
    assert files(keep) == ["head.h5"]
    assert_same(run(checkpoint=resumed(tmp_path), store_every=4000), whole)


def test_an_old_checkpoint_is_replaced_at_once(copy, monkeypatch):
    """Files of other runs and killed writes go when the new checkpoint is whole, not before."""
    old = files(copy)
    (copy.folder / "head.0a1b2c.partial.h5").touch()
    (copy.folder / "notes.txt").write_text("mine")
    keep = replace(copy, steps=500)
    with monkeypatch.context() as patch:
        Full(patch, [False, False, True])  # the block of the new run can be written, not its head
        run(checkpoint=keep, steps=StepBounds(1e-4, 2e-4))
    assert files(copy) == sorted([*old, "head.0a1b2c.partial.h5", "notes.txt"])
    assert_same(run(checkpoint=resumed(copy.path)), run())
    assert run(checkpoint=keep, steps=StepBounds(1e-4, 2e-4)).completed
    assert "notes.txt" in files(copy)
    assert not set(old) & set(files(copy)) - {"head.h5"}
    keep.remove()
    assert files(copy) == ["notes.txt"]


def test_columns_give_steps_back():
    steps = taken.AcceptedSteps.empty(CASE_A.dynamics)
    again = taken.AcceptedSteps.of_columns(steps.columns(), steps)
    for name in vars(steps):
        a, b = getattr(steps, name), getattr(again, name)
        assert a.shape == b.shape, name
        assert a.dtype == b.dtype, name


def test_a_model_is_told_by_its_hash():
    """Although not all functions are looked at."""
    d = CASE_A.dynamics
    (hinge,) = d.elements
    wider, elastic = replace(hinge, clearance=2e-3), replace(hinge, law=ContactLaw(restitution=0.5))
    others = [LIGHTER, *(assemble(d.mechanism, [x], d.gravity) for x in (wider, elastic))]
    assert len({identity.model_hash(x) for x in (d, *others)}) == 4
    assert identity.model_hash(assemble(d.mechanism, d.elements, d.gravity)) == (
        identity.model_hash(d)
    )
