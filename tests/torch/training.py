"""Trainings as processes of their own, with the hooks and without."""

import os
import subprocess
import sys
from pathlib import Path

from tests.torch.conftest import PACKAGE

START = PACKAGE / "stepscope" / "_start"

# A small CNN whose losses depend on everything that could be disturbed: order, dropout, workers, numbers.
CNN = """
import os, sys, torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __len__(self): return 160
    def __getitem__(self, i):
        return torch.rand(1, 12, 12), i % 10

def main(steps=60, workers=1):
    torch.set_num_threads(1)
    torch.manual_seed(3)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Dropout(0.3), nn.Flatten(), nn.Linear(400, 10))
    optimizer, loss, done = torch.optim.Adam(net.parameters(), 0.01), nn.CrossEntropyLoss(), 0
    while done < steps:
        for x, y in DataLoader(Images(), 8, shuffle=True, num_workers=workers):
            optimizer.zero_grad()
            value = loss(net(x), y)
            value.backward()
            optimizer.step()
            done += 1
            print(value.item().hex(), flush=True)
            if done % 20 == 0 and not sys.stdin.closed: sys.stdin.readline()
        net.eval()
        with torch.no_grad():
            print("eval", float(loss(net(torch.ones(4, 1, 12, 12)), torch.arange(4))).hex())
        net.train()

if __name__ == "__main__": main()
"""


def start(*words, socket: object = "/nobody", hooks=True, before=(), variables=(), **options) -> subprocess.Popen:
    """Starts a process with the agent at `socket`; None: the node's own agent."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("STEPSCOPE", "PYTHON"))}
    environment |= {"OMP_NUM_THREADS": "1", "STEPSCOPE_PURE": os.environ.get("STEPSCOPE_PURE", ""), **dict(variables)}
    if hooks:
        environment |= {"PYTHONPATH": f"{START}:{PACKAGE}", "STEPSCOPE_JOB": "j"}
    if hooks and socket is not None:
        environment["STEPSCOPE_SOCKET"] = str(socket)
    pipe = subprocess.PIPE
    return subprocess.Popen([*before, sys.executable, *map(str, words)], env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **options)


def outcome(process):
    """(exit code, standard output, standard error)"""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def script(folder: Path, text: str) -> Path:
    (folder / "train.py").write_text(text)
    return folder / "train.py"
