import importlib
import os
import sys

import pytest

from tests.python.intake import PACKAGE, Intake

FORMS = ("pure Python", "C extension")  # the last one is what the test modules import
PURE = {"pure Python": "1", "C extension": ""}
sys.path.insert(0, str(PACKAGE))


def is_ours(module):
    return module.partition(".")[0] == "stepscope"


def take_out():
    """The modules of the package that are loaded now; nobody finds them any more."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if is_ours(name)}


def load(form):
    os.environ["STEPSCOPE_PURE"] = PURE[form]
    take_out()
    package = importlib.import_module("stepscope")
    assert package.info()["form"] == form, package.info()["form_reason"]
    return dict(sys.modules)


LOADED = {form: {name: module for name, module in load(form).items() if is_ours(name)} for form in FORMS}


@pytest.fixture(autouse=True, params=FORMS)
def form(request, monkeypatch):
    """Each test runs with both forms of the package, here and in the processes that it starts."""
    before = take_out()
    sys.modules.update(LOADED[request.param])
    monkeypatch.setenv("STEPSCOPE_PURE", PURE[request.param])
    for name, value in vars(request.module).items():
        if is_ours(getattr(value, "__name__", "")):
            monkeypatch.setattr(request.module, name, importlib.import_module(value.__name__))
    yield request.param
    LOADED[request.param] = take_out()
    sys.modules.update(before)


@pytest.fixture
def intake(tmp_path):
    """The agent's intake, listening on a socket of its own."""
    with Intake(tmp_path / "marks.sock") as running:
        yield running


@pytest.fixture
def session_at(form, monkeypatch):
    """Gives the package in this process a fresh session that looks for its agent at a path."""
    sessions = []
    marks = importlib.import_module("stepscope._marks")
    before = marks._session

    def open_at(path):
        monkeypatch.setenv("STEPSCOPE_SOCKET", str(path))
        session = importlib.import_module("stepscope._session").Session()
        sessions.append(session)
        marks.adopt(session)
        return session

    yield open_at
    marks.adopt(before)
    for session in sessions:
        session.abandon()
