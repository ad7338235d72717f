"""The place where the package finds the node's own agent, and what it says of this process."""

import os
import stat
import sys
import types

import pytest

from stepscope import _place
from tests.python.intake import Intake


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    """A node whose only agent, if any, is that of this user's runtime folder."""
    monkeypatch.delenv("STEPSCOPE_SOCKET", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = tmp_path / "stepscope"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(_place, "_usual_paths", lambda: [str(folder / "agent.sock")])
    return folder


def test_the_agent_of_the_node_is_found_without_a_word(runtime):
    with Intake(runtime / "agent.sock"):
        assert _place.socket_path() == str(runtime / "agent.sock")


def test_its_paths_are_those_of_the_agent(monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    paths = ["/run/stepscope/agent.sock", "/run/user/7/stepscope/agent.sock", f"/tmp/stepscope-{os.geteuid()}/agent.sock"]
    assert _place._usual_paths() == paths
    monkeypatch.setenv("XDG_RUNTIME_DIR", "relative")
    assert _place._usual_paths() == [paths[0], paths[2]]


def test_the_variable_goes_before_also_when_it_is_empty(runtime, monkeypatch):
    with Intake(runtime / "agent.sock"):
        for value in ("/elsewhere", ""):
            monkeypatch.setenv("STEPSCOPE_SOCKET", value)
            assert _place.socket_path() == value


def test_without_an_agent_the_package_is_off(runtime):
    assert _place.socket_path() == ""


def test_a_folder_that_others_can_write_to_is_not_trusted(runtime):
    with Intake(runtime / "agent.sock"):
        runtime.chmod(0o722)
        assert _place.socket_path() == ""


def test_a_folder_of_somebody_else_is_not_trusted(runtime, monkeypatch):
    with Intake(runtime / "agent.sock"):
        monkeypatch.setattr(os, "lstat", lambda _: os.stat_result((stat.S_IFDIR | 0o755, 0, 0, 1, os.geteuid() + 1, 0, 0, 0, 0, 0)))
        assert _place.socket_path() == ""


@pytest.mark.parametrize("value, said", [(None, ""), ("", "-1"), ("-1", "-1"), ("0,2", "0,2"), (" GPU-8932f937 ", "GPU-8932f937")])
def test_visible_gpus_are_said(monkeypatch, value, said):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if value is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    assert _place.devices() == said


@pytest.mark.parametrize("hip, said", [(None, "0"), ("6.1", "2,3")])
def test_the_gpus_of_hip_count_where_pytorch_is_made_for_it(monkeypatch, hip, said):
    torch = types.SimpleNamespace(version=types.SimpleNamespace(hip=hip))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "2,3")
    assert _place.devices() == said
