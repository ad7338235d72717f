"""A checkpoint is written with the hooks as it is without them, in whichever way: the same files, output and exit code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.torch.training import outcome, start

SCRIPT = Path(__file__).parent / "checkpoints" / "save.py"
WAYS = re.findall(r"^@way\ndef (\w+)", SCRIPT.read_text(), re.MULTILINE)
if sys.version_info < (3, 11):
    WAYS.remove("refused")  # a traceback shows the frame that passed the exception on
UNLIKE_EACH_TIME = rb"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # numbers of classes and checkpoints
SENT = "class_of_the_script/model"  # what takes a class apart finds the attribute that it got, with the original in it


def saved(folder, **named):
    """What was said, and the files by name."""
    folder.mkdir()
    code, out, err = outcome(start(SCRIPT, ".", *WAYS, cwd=folder, **named))  # checkpoints have their path in them
    said = code, out, re.sub(r"\(pid=\d+\)", "", err)  # Python warns of forks so
    return said, {str(path.relative_to(folder)): content(path) for path in folder.rglob("*") if path.is_file()}


def content(path):
    """The old format has addresses in it, and what is scripted has names in an order of its own."""
    if path.suffix == ".old":
        return repr(torch.load(path))
    if path.suffix == ".module":
        return repr(torch.jit.load(path).state_dict())
    return re.sub(UNLIKE_EACH_TIME, b"", path.read_bytes())


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    said, files = saved(tmp_path_factory.mktemp("bare") / "files", hooks=False)
    assert said[0] == ("refused" in WAYS) and len(files) >= 18, said[2]
    return said, files


@pytest.mark.parametrize("socket", ["agent", "nobody"])
def test_every_checkpoint_is_the_same(bare, intake, tmp_path, socket):
    said, files = saved(tmp_path / "files", socket=intake.path if socket == "agent" else "")
    assert said == bare[0]
    assert sorted(files) == sorted(bare[1])
    assert [name for name in files if files[name] != bare[1][name] and name != SENT] == []
    if socket == "agent":
        assert len(intake.drain_until(lambda i: i.ended, "end").steps) >= 20


def test_a_class_that_is_sent_elsewhere_has_nothing_of_ours(intake, tmp_path):
    pytest.importorskip("joblib", reason="joblib is not here: apt-get install python3-joblib")
    assert saved(tmp_path / "files", socket=intake.path)[0][0] >= 0
    path = tmp_path / "files" / SENT
    assert b"stepscope" not in path.read_bytes()
    load = "import sys, pickle, torch; kind, save = pickle.load(open(sys.argv[1], 'rb')); print(kind()(torch.ones(2, 4)).shape, save is torch.save, kind.__call__ is torch.nn.Module.__call__)"
    assert subprocess.check_output([sys.executable, "-c", load, path], text=True) == "torch.Size([2, 1]) True True\n"
