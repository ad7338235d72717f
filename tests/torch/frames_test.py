"""What a script sees of its own frames: tracebacks, the lines of warnings and of logs are those of a training without us."""

import sys

import pytest

from tests.torch.training import outcome, script, start

SCRIPT = """
import logging, sys, traceback, warnings
import torch
from torch import nn
torch.set_num_threads(1)
torch.manual_seed(1)
warnings.simplefilter("always", UserWarning)
logging.basicConfig(format="%(filename)s:%(lineno)d %(message)s", stream=sys.stderr)
at = [0]

def speak(where):
    warnings.warn(f"{where} {at[0]}", stacklevel=2)
    warnings.warn(f"{where} {at[0]}", stacklevel=4)
    logging.warning(f"{where} {at[0]}", stacklevel=4)

class Images(torch.utils.data.Dataset):
    def __len__(self): return 24
    def __getitem__(self, i):
        if i == at[0] == 23: raise OSError("disk")
        return torch.ones(4)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 1)
    def forward(self, x):
        if at[0] % 11 == 10: speak("forward")
        if at[0] == 20: raise KeyError("of the model")
        return self.two(torch.relu(self.one(x)))

class Own(torch.optim.SGD):
    def step(self, closure=None):
        if at[0] % 11 == 10: speak("step")
        return super().step(closure)

def fails(*words):
    raise ValueError("in backward")

class Bad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x + 0
    @staticmethod
    def backward(ctx, x): return fails(x)

def attempt(what):
    try:
        what()
    except Exception:
        traceback.print_exc()

def train(net, optimizer, data):
    for x in data:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        at[0] += 1

net = Net()
optimizer = Own(net.parameters(), 0.01)
data = torch.utils.data.DataLoader(Images(), 1, num_workers=0)
attempt(lambda: train(net, optimizer, data))  # up to the model that raises
at[0] = 30
attempt(lambda: train(net, optimizer, data))
at[0] = 23
attempt(lambda: list(data))
at[0] = 31
x = torch.ones(1, 4)
attempt(lambda: Bad.apply(net(x)).sum().backward())
attempt(lambda: torch.autograd.backward(net(x)[:, :0]))
attempt(lambda: net(x).backward(nothing=1))
attempt(lambda: net())
attempt(lambda: net(x[:, :2]))
attempt(lambda: optimizer.step(lambda: 1 / 0))
attempt(lambda: torch.optim.SGD(net.parameters(), -1))
attempt(lambda: torch.save(net, "/nowhere/at"))
attempt(lambda: torch.utils.data.DataLoader(data, 2, num_workers=-1))
attempt(lambda: torch.distributed.all_reduce(x))
attempt(lambda: torch.distributed.barrier(1, 2, 3, 4))
torch.nn.MSELoss()(net(x), "wrong")
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before Python 3.11 a traceback shows the frames that passed an exception on")
def test_tracebacks_and_warnings_name_the_lines_of_the_script_and_of_torch(intake, tmp_path):
    path = script(tmp_path, SCRIPT)
    bare, with_us = (outcome(start(path, socket=intake.path, hooks=hooks)) for hooks in (False, True))
    assert bare[0] == 1 and bare[2].count("Traceback") == 14 and bare[2].count("train.py:") > 8, bare[2]
    assert with_us == bare
    assert len(intake.drain_until(lambda i: i.ended, "end").steps) >= 40
