"""A process that no agent serves, on a node whose agent may start later."""

import contextlib
import importlib

import pytest


@pytest.fixture
def place(tmp_path):
    """The socket of the node's agent: in this user's runtime folder, which nobody has used so far."""
    folder = tmp_path / "stepscope"
    folder.mkdir(mode=0o700)
    return folder / "agent.sock"


@contextlib.contextmanager
def session_alone(place, monkeypatch):
    """A session of this process that looks there and finds nobody; of the form that is loaded now."""
    marks, places, sessions = (importlib.import_module(f"stepscope.{name}") for name in ("_marks", "_place", "_session"))
    monkeypatch.delenv("STEPSCOPE_SOCKET", raising=False)
    monkeypatch.setattr(places, "_usual_paths", lambda: [str(place)])
    before, session = marks._session, sessions.Session()
    marks.adopt(session)
    yield session
    marks.adopt(before)
    session.abandon()
