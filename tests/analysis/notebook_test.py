"""docs/analysis.ipynb runs as it stands, against a job that a real agent has profiled."""

import base64
import json
import os

import pytest

for _package in ("nbclient", "ipykernel", "matplotlib"):
    pytest.importorskip(_package, reason=f"{_package} is not here: apt-get install python3-{_package}")

import nbformat  # noqa: E402
from nbclient import NotebookClient  # noqa: E402

from tests.support.service import ROOT  # noqa: E402

NOTEBOOK = ROOT / "docs/analysis.ipynb"


def pictures(cell):
    """Of a cell, as bytes."""
    shown = [output.get("data", {}) for output in cell.outputs]
    return [base64.b64decode(each["image/png"]) for each in shown if "image/png" in each]


def is_a_picture(png):
    wide, high = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    return png.startswith(b"\x89PNG") and wide > 300 and high > 120


def check_pictures(notebook):
    """The histogram of the annotations, and at the end utilisation beside step times: nothing else is drawn."""
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    drawn = [cell for cell in codes if pictures(cell)]
    assert drawn == [codes[5], codes[-1]] and "annotation_histogram" in drawn[0].source
    for cell in drawn:
        (picture,) = pictures(cell)
        assert is_a_picture(picture)


def test_it_runs_and_ends_with_the_picture(service, training, tmp_path):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "STEPSCOPE_SERVER": service.url, "STEPSCOPE_JOB": training.name}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute(env=variables)
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs for cell in codes)
    assert "DataloaderBottleneck" in str(codes[1].outputs) and "IssuesFound" in str(codes[1].outputs)
    check_pictures(notebook)


def test_it_is_kept_with_small_outputs_of_a_run():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"] == list(range(1, 9))
    check_pictures(notebook)
    assert len(json.dumps(notebook)) < 100_000
    assert not [output for cell in notebook.cells for output in cell.get("outputs", []) if output.output_type == "error"]
