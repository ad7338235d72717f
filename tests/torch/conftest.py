"""The hooks in this process, with the real intake. `scripts/test --only torch` runs these."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not here: apt-get install python3-torch")

PACKAGE = Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGE))

from stepscope import _hooks, _marks  # noqa: E402
from stepscope._session import Session  # noqa: E402
from tests.python.intake import Intake  # noqa: E402

torch.set_num_threads(1)


@pytest.fixture
def intake(tmp_path):
    with Intake(tmp_path / "marks.sock") as running:
        yield running


@pytest.fixture
def agent(intake, monkeypatch):
    """The intake, with the hooks installed in this process."""
    monkeypatch.setenv("STEPSCOPE_SOCKET", str(intake.path))
    session = Session()
    monkeypatch.setattr(_marks, "_session", session)
    torch.manual_seed(1)
    _hooks.begin(torch)
    yield intake
    _hooks.end()
    session.abandon()
