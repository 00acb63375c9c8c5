"""Execute the lessons and write them, with outputs and pictures, as notebooks beside their scripts.

python3 dev.py notebooks [NAME ...]     such as wear; all of them without a name
"""

import base64
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
LESSONS = ROOT / "notebooks"
COLOURS = 64
"""Of a picture: edges of lines stay smooth, and it takes a third of the bytes."""
METADATA = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}


def execute(script: Path) -> nbformat.NotebookNode:
    """Return a script as a notebook with the outputs of its cells.

    Raises
    ------
    CellExecutionError
        With the cell and the traceback.
    """
    notebook = jupytext.read(script, fmt="py:percent")
    notebook.metadata = METADATA  # the kernel's own name may differ from one machine to another
    os.environ.pop("MPLBACKEND", None)  # pictures go into the notebook
    with tempfile.TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=900, kernel_name="python3", resources=place).execute()
        left = [path.name for path in Path(folder).iterdir()]
    if left:
        raise SystemExit(f"{script.name} leaves {', '.join(left)} behind as a notebook")
    return notebook


def cleaned(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a notebook without what differs from one execution or machine to the next."""
    new = nbformat.v4.new_notebook(metadata=METADATA)
    for k, cell in enumerate(notebook.cells):
        code = cell.cell_type == "code"
        make = nbformat.v4.new_code_cell if code else nbformat.v4.new_markdown_cell
        kept = {"outputs": merged(filter(None, map(output, cell.outputs)))} if code else {}
        new.cells.append(make(cell.source, id=f"cell-{k}", **kept))
    return new


def merged(outputs: Iterable[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Return outputs with what was printed in one piece, which arrives in several by chance."""
    new: list[nbformat.NotebookNode] = []
    for each in outputs:
        if each.output_type == "stream" and new and new[-1].output_type == "stream":
            new[-1].text += each.text
        else:
            new.append(each)
    return new


def output(made: nbformat.NotebookNode) -> nbformat.NotebookNode | None:
    """Return what a reader sees of an output: what was printed, a picture, a table.

    Raises
    ------
    SystemExit
        For what goes to stderr: a warning that a reader would wonder about.
    """
    if made.output_type == "stream":
        if made.name == "stderr":
            raise SystemExit(f"a cell warns:\n{made.text}")
        return nbformat.v4.new_output("stream", name=made.name, text=made.text)
    shown = {kind: made.data[kind] for kind in ("image/png", "text/html") if kind in made.data}
    if "image/png" in shown:
        shown["image/png"] = small(shown["image/png"])
    # A value without one is the name of a legend or a label.
    return nbformat.v4.new_output("display_data", data=shown) if shown else None


def small(picture: str) -> str:
    """Return a picture, in base64, with fewer colours and without the names of programs."""
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    few = image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    stream = io.BytesIO()
    few.save(stream, format="png", optimize=True)
    return base64.b64encode(stream.getvalue()).decode()


def check(text: str) -> None:
    """Refuse a notebook that names a folder of this machine.

    Raises
    ------
    SystemExit
        With what stands there.
    """
    places = (str(ROOT), str(Path.home()), sys.prefix, tempfile.gettempdir() + os.sep)
    for place in places:
        if found := re.search(rf".{{0,60}}{re.escape(place)}.{{0,60}}", text):
            raise SystemExit(f"an output names a folder of this machine: {found[0]}")


def main(*names: str) -> None:
    """Write the notebooks of the scripts with these names, all by default."""
    scripts = sorted(LESSONS.glob("*.py"))
    unknown = set(names) - {script.stem for script in scripts}
    if unknown:
        there = ", ".join(script.stem for script in scripts)
        raise SystemExit(f"no lesson {', '.join(sorted(unknown))}; there are {there}")
    for script in scripts:
        if names and script.stem not in names:
            continue
        print(f"executing {script.stem} ...", flush=True)
        text = nbformat.writes(cleaned(execute(script))) + "\n"
        check(text)
        script.with_suffix(".ipynb").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
