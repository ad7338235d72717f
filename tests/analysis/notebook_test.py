"""docs/analysis.ipynb runs as it stands, against a job that a real agent has profiled."""

import base64
import json
import os
from pathlib import Path

import pytest

for _package in ("nbclient", "ipykernel", "matplotlib"):
    pytest.importorskip(_package, reason=f"{_package} is not here: apt-get install python3-{_package}")

import nbformat  # noqa: E402
from nbclient import NotebookClient  # noqa: E402
from traitlets.config import Config  # noqa: E402

from tests.analysis.conftest import PYTHON, below_agent  # noqa: E402
from tests.support.service import ROOT, program  # noqa: E402

NOTEBOOK = ROOT / "docs/analysis.ipynb"
FAKE = Path(program("stepscope-agent")).parent / "tests/fake_nvml"


def pictures(cell):
    """The pictures of a cell, as bytes."""
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


def executed(service, job, folder, *more):
    """The notebook, run for a job, with more cells at its end."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    notebook.cells += [nbformat.v4.new_code_cell(text) for text in more]
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "STEPSCOPE_SERVER": service.url, "STEPSCOPE_JOB": job}
    # Sockets in a folder: a port that is free may be taken before the kernel has bound it.
    kernel = Config(KernelManager={"transport": "ipc", "connection_file": str(folder / "k.json")})
    NotebookClient(notebook, config=kernel, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute(env=variables)
    return notebook


def outputs_of(notebook):
    """The outputs of each cell with code."""
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


def test_it_runs_and_ends_with_the_picture(service, training, tmp_path):
    notebook = executed(service, training.name, tmp_path)
    outputs = outputs_of(notebook)
    assert all(outputs)
    assert "DataloaderBottleneck" in str(outputs[1]) and "IssuesFound" in str(outputs[1])
    check_pictures(notebook)


TRAINING_ON_GPUS = """
import time, stepscope
for _ in range(110):
    with stepscope.phase("forward"), stepscope.annotate("model"):
        time.sleep(0.02)
    stepscope.step()
time.sleep(1)
"""

# A cell that prints the numbers of the picture. The fake driver's GPUs are busy for 97 % of the time.
SAY = """
import json
print(json.dumps({
    "metric": metric, "unit": beside.attrs["unit"], "devices": sorted(samples["device"].unique()),
    "lines": [line.get_label() for line in upper.get_lines()], "values": sorted(set(beside["value"].dropna().round(6))),
    "without": int(beside["value"].isna().sum()), "steps": len(beside), "marked": int(beside["marked"].sum()),
}))
"""


@pytest.mark.skipif(not FAKE.is_dir(), reason="the tests in C++ are not built")
def test_it_draws_the_gpus_of_a_node_that_has_some(service, client, tmp_path):
    variables = {"LD_LIBRARY_PATH": str(FAKE), "FAKE_NVML_GPUS": "2"}
    below_agent(service, "on-gpus", PYTHON, "-c", TRAINING_ON_GPUS, flags=("--interval", "100ms"), **variables)
    notebook = executed(service, "on-gpus", tmp_path, SAY)
    said = json.loads(outputs_of(notebook)[-1][0]["text"])
    assert (said["metric"], said["unit"], said["values"]) == ("gpu_util_percent", "%", [97.0])
    assert said["devices"] == ["gpu0", "gpu1"] and [label.split()[-1] for label in said["lines"]] == ["gpu0", "gpu1"]
    assert said["steps"] == 110 and said["marked"] == 3 and said["without"] < 10
    del notebook.cells[-1]
    check_pictures(notebook)
    usage = str(outputs_of(notebook)[-2])
    assert "gpu_util_percent" in usage and "gpu_memory_used" in usage
    assert len(client.job("on-gpus").describe()["nodes"][0]["gpus"]) == 2


def test_it_is_kept_with_small_outputs_of_a_run():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"] == list(range(1, 9))
    check_pictures(notebook)
    assert len(json.dumps(notebook)) < 100_000
    assert not [output for cell in notebook.cells for output in cell.get("outputs", []) if output.output_type == "error"]
