"""The hooks in this process, with the real intake. `scripts/test --only torch` runs these."""

import sys

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not here: apt-get install python3-torch")

from tests.python.intake import PACKAGE, Intake  # noqa: E402

sys.path.insert(0, str(PACKAGE))

from stepscope import _hooks, _marks  # noqa: E402
from stepscope._session import Session  # noqa: E402

torch.set_num_threads(1)


@pytest.fixture
def intake(tmp_path):
    with Intake(tmp_path / "marks.sock") as running:
        yield running


@pytest.fixture
def agent(intake, monkeypatch):
    """The intake, with the hooks installed in this process."""
    monkeypatch.setenv("STEPSCOPE_SOCKET", str(intake.path))
    before, session = _marks._session, Session()
    _marks.adopt(session)
    torch.manual_seed(1)
    _hooks.begin(torch)
    yield intake
    _hooks.end()
    _marks.adopt(before)
    session.abandon()
