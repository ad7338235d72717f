import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGE))

from stepscope import _marks  # noqa: E402
from stepscope._session import Session  # noqa: E402
from tests.python.intake import Intake  # noqa: E402


@pytest.fixture
def intake(tmp_path):
    """The agent's intake, listening on a socket of its own."""
    with Intake(tmp_path / "marks.sock") as running:
        yield running


@pytest.fixture
def session_at(monkeypatch):
    """Gives the package in this process a fresh session that looks for its agent at a path."""
    sessions = []

    def open_at(path) -> Session:
        monkeypatch.setenv("STEPSCOPE_SOCKET", str(path))
        session = Session()
        sessions.append(session)
        monkeypatch.setattr(_marks, "_session", session)
        return session

    yield open_at
    for session in sessions:
        session.abandon()
