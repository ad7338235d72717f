"""A training in the cells of a notebook, in a real kernel."""

import os

import pytest

from tests.torch.conftest import PACKAGE
from tests.torch.training import START

nbformat = pytest.importorskip("nbformat", reason="apt-get install python3-nbclient python3-ipykernel")
nbclient = pytest.importorskip("nbclient", reason="apt-get install python3-nbclient python3-ipykernel")
pytest.importorskip("ipykernel", reason="apt-get install python3-nbclient python3-ipykernel")
config = pytest.importorskip("traitlets.config", reason="apt-get install python3-nbclient python3-ipykernel")

CELLS = (
    "import warnings\nwarnings.simplefilter('ignore')  # tqdm's, which torch imports where it is\nimport torch\nfrom torch import nn\nnet = nn.Linear(4, 1)\noptimizer = torch.optim.SGD(net.parameters(), 0.01)",
    "def train(steps):\n    for x in torch.utils.data.DataLoader(torch.ones(steps * 4, 4), 4):\n"
    "        optimizer.zero_grad(); net(x).sum().backward(); optimizer.step()",
    "train(10)",
    "1 / 0",
    "net = nn.Linear(4, 1); optimizer = torch.optim.SGD(net.parameters(), 0.01)",
    "train(7)",
    "import stepscope; print(stepscope.info()['connected'])",
)


def test_cells_train_one_after_the_other(intake, monkeypatch, tmp_path):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    pure = os.environ.get("STEPSCOPE_PURE", "")
    variables |= {"PYTHONPATH": f"{START}:{PACKAGE}", "STEPSCOPE_JOB": "j", "STEPSCOPE_SOCKET": str(intake.path), "STEPSCOPE_PURE": pure}
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    # Sockets in a folder: a port that is free may be taken before the kernel has bound it.
    kernel = config.Config(KernelManager={"transport": "ipc", "connection_file": str(tmp_path / "k.json")})
    nbclient.NotebookClient(book, config=kernel, timeout=120, kernel_name="python3", allow_errors=True).execute(env=variables)
    outputs = [[each.get("text") or each.get("ename") for each in cell.outputs] for cell in book.cells]
    assert outputs == [[], [], [], ["ZeroDivisionError"], [], [], ["True\n"]]
    intake.drain_until(lambda i: i.ended, "end")
    assert [row["step"] for row in intake.steps] == list(range(17)) and len(intake.started) == 1
