"""Notebooks hold the outputs of their scripts, which run and leave the same pictures."""

import base64
import io
import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
SCRIPTS = sorted(FOLDER.glob("*.py"))
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MACHINE = re.compile(r"/(?:home|root|tmp|work|Users)/|[A-Z]:\\\\|0x[0-9a-f]{6}")
"""A folder of a machine, or an address in its memory."""


def cells_of_script(path):
    """Return kind and text of each cell of a script in the percent format."""
    _, *parts = re.split(r"^# %%(.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    cells = zip(map(str.strip, parts[::2]), map(str.strip, parts[1::2]), strict=True)
    return [
        ("markdown", text.strip('"').strip()) if kind == "[markdown]" else ("code", text)
        for kind, text in cells
    ]


def cells_of(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def pictures_of(path):
    """Return the pictures of a notebook, in base64."""
    outputs = [output for cell in cells_of(path) for output in cell.get("outputs", ())]
    return [x["data"]["image/png"] for x in outputs if "image/png" in x.get("data", ())]


def shows_something(file):
    """Whether a picture has more than one colour."""
    return np.ptp(np.asarray(Image.open(file).convert("L"))) > 0


def test_each_script_is_a_notebook():
    assert SCRIPTS
    assert [x.stem for x in NOTEBOOKS] == [x.stem for x in SCRIPTS]


@pytest.mark.unit
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_that_of_its_script(notebook):
    """If not: python3 dev.py notebooks."""
    found = [(cell["cell_type"], "".join(cell["source"]).strip()) for cell in cells_of(notebook)]
    assert found == cells_of_script(notebook.with_suffix(".py"))


@pytest.mark.unit
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_its_pictures_and_nothing_of_the_machine(notebook):
    pictures = pictures_of(notebook)
    assert pictures
    assert all(shows_something(io.BytesIO(base64.b64decode(x))) for x in pictures)
    text = notebook.read_text(encoding="utf-8")
    for picture in pictures:  # letters by chance
        text = text.replace(picture, "")
    assert not MACHINE.search(re.sub(r"base64,[\w+/=]+", "", text))
    kinds = {x["output_type"] for cell in cells_of(notebook) for x in cell.get("outputs", ())}
    assert kinds <= {"stream", "display_data"}  # no errors, no addresses of objects


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_leaves_the_pictures_of_its_notebook(script, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr("nsopt.plots.DPI", 40)  # a picture all the same
    runpy.run_path(str(script))
    assert not capfd.readouterr().err
    left = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    expected = len(pictures_of(script.with_suffix(".ipynb")))
    assert {str(path.relative_to(tmp_path)) for path in left} == {
        f"results/{script.stem}_{k}.png" for k in range(1, expected + 1)
    }
    assert all(map(shows_something, left))
