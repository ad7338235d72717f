"""Checkpoints that are written without torch.save: safetensors, of which the distribution has no package and this is a
stand-in, and torch.distributed.checkpoint as it is."""

import importlib.util

import pytest

from tests.torch.training import outcome, script, start

SAFETENSORS = """
import torch

def save_file(tensors, filename, metadata=None):
    with open(filename, "wb") as file:
        for name, tensor in tensors.items():
            file.write(name.encode() + bytes(tensor.contiguous().view(-1).double().tolist().__repr__(), "ascii"))

def save_model(model, filename, metadata=None, force_contiguous=True):
    save_file(model.state_dict(), filename, metadata)
"""

TRAINING = """
import sys
%s
import torch
from torch import nn
from torch.utils.data import DataLoader
torch.set_num_threads(1)
torch.manual_seed(1)
net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for i, x in enumerate(DataLoader(torch.ones(80, 4), 4)):
    optimizer.zero_grad()
    loss = net(x).sum()
    loss.backward()
    optimizer.step()
    print(loss.item().hex())
    if i in (9, 14):
        %s
try:
    %s
except BaseException as problem:
    print(type(problem).__name__)
"""

WAYS = {
    "safetensors": ("from safetensors.torch import save_file", 'save_file(net.state_dict(), sys.argv[1] + "/w")', 'save_file({}, "/nowhere/w")'),
    "a model of safetensors": ("import safetensors.torch as st", 'st.save_model(net, sys.argv[1] + "/w")', 'st.save_model(net, "/nowhere/w")'),
    "safetensors after torch": ("import torch\nfrom safetensors.torch import save_file", 'save_file(net.state_dict(), sys.argv[1] + "/w")', "save_file({}, '/nowhere/w')"),
    "torch.distributed.checkpoint": (
        "import warnings; warnings.simplefilter('ignore')\nimport torch.distributed.checkpoint as dcp",
        'dcp.save({"net": net.state_dict()}, checkpoint_id=f"{sys.argv[1]}/{i}")',
        'dcp.save({}, checkpoint_id="/dev/null/w")',
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_saves_in_a_way_of_its_own_is_a_checkpoint(intake, tmp_path, way):
    if "torch" in way.split(".") and importlib.util.find_spec("torch.distributed.checkpoint") is None:
        pytest.skip("this version has no torch.distributed.checkpoint")
    (tmp_path / "safetensors").mkdir()
    (tmp_path / "safetensors/__init__.py").write_text("")
    (tmp_path / "safetensors/torch.py").write_text(SAFETENSORS)
    path = script(tmp_path, TRAINING % WAYS[way])
    bare, with_us = (outcome(start(path, tmp_path, socket=intake.path, hooks=hooks)) for hooks in (False, True))
    assert bare[0] == 0 and bare[1].splitlines()[-1] != "" and with_us == bare, with_us[2]
    intake.drain_until(lambda i: i.ended, "end")
    assert [row["step"] for row in intake.steps] == list(range(20))
    assert [row["step"] for row in intake.steps if "checkpoint" in row["phases"]] == [10, 15]
    assert all(sum(row["phases"].values()) <= row["wall_ns"] for row in intake.steps)
