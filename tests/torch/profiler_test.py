"""Our times beside those of torch.profiler, of the same steps."""

import contextlib
import io
import statistics
import subprocess
import sys
import time
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stepscope import _marks, _wire
from tests.torch.nets import step
from tests.torch.rings import marks

STEPS, WARM = 14, 4
MUCH = torch.ones(24_000_000)  # so that saving takes long
GRADIENTS = torch.ones(8_000_000)
FILE = io.BytesIO()
# Adds up what the training sends, and goes when that does.
PEER = """
import sys, torch, torch.distributed as dist
dist.init_process_group("gloo", init_method=sys.argv[1], rank=1, world_size=2)
sent = torch.ones(int(sys.argv[2]))
for _ in range(int(sys.argv[3])):
    dist.all_reduce(sent)
"""


class Images(Dataset):
    """Images that take milliseconds of real work each, so that the profiler's own time is small beside it; and how long
    each took."""

    def __init__(self, rounds):
        self.rounds = rounds

    def __len__(self):
        return (STEPS + WARM) * 2

    def __getitem__(self, i):
        begin = time.monotonic()
        image = torch.full((160, 160), i / 100)
        for _ in range(self.rounds):
            image = torch.tanh(image @ image / 160)
        return image[:64, :64].reshape(1, 64, 64), image[:8, 0], 1e6 * (time.monotonic() - begin)


class LongLoss(nn.Module):
    def forward(self, x, y):
        return nn.functional.mse_loss(x, y) + sum((x.mean() - torch.ones(1_000_000)).square().mean() for _ in range(64))


def net():
    """Large, because the profiler counts as ours what entering a record_function costs it: 0.17 ms with PyTorch 2.6."""
    return nn.Sequential(nn.Conv2d(1, 96, 5), nn.ReLU(), nn.Conv2d(96, 96, 5), nn.Flatten(), nn.Linear(96 * 56 * 56, 8))


def save(model):
    FILE.seek(0)  # memory that is given back would be time of the profiler's stretch alone
    torch.save([model.state_dict(), MUCH], FILE)


@contextlib.contextmanager
def two_ranks(folder):
    """This process is one of the ranks; the other one takes each step as well."""
    store = f"file://{folder}/ranks"
    peer = subprocess.Popen([sys.executable, "-c", PEER, store, str(len(GRADIENTS)), str(STEPS + WARM)])
    try:
        dist.init_process_group("gloo", init_method=store, rank=0, world_size=2, timeout=timedelta(seconds=60))
        yield
        assert peer.wait(60) == 0
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
        peer.kill()
        peer.wait()


PHASES = ("data", "forward", "loss", "backward", "communication", "optimizer", "checkpoint")


def run(rounds, workers):
    """The intervals that Kineto saw, of the last steps: {what: [(start, end)]}, in microseconds; and how long the
    work took that each batch is made of."""
    model, criterion, work = net(), LongLoss(), []
    optimizer = torch.optim.Adam(model.parameters())
    seen = torch.profiler.record_function
    batches = iter(DataLoader(Images(rounds), 2, num_workers=workers))
    for _ in range(WARM):
        step(model, optimizer, *next(batches)[:2], criterion)
        dist.all_reduce(GRADIENTS)
        save(model)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for _ in range(STEPS):
            x, y, took = next(batches)
            work.append(float(took.sum()))
            optimizer.zero_grad()
            with seen("forward"):
                out = model(x)
            with seen("loss"):
                loss = criterion(out, y)
            with seen("backward"):
                loss.backward()
            with seen("communication"):
                dist.all_reduce(GRADIENTS)
            with seen("checkpoint"):
                save(model)
            optimizer.step()
    return intervals(profile), work


def intervals(profile):
    found = {}
    for event in profile.events():
        name = "data" if "DataLoaderIter.__next__" in event.name else event.name
        name = "optimizer" if name.startswith("Optimizer.step#") else name
        if name in PHASES:
            found.setdefault(name, []).append((event.time_range.start, event.time_range.end))
    return found


def ours():
    """The intervals of our phases and steps, by name."""
    found = {}
    for start, end, kind, name in marks(_marks._session):
        if kind in (_wire.PHASE_MARK, _wire.STEP_MARK):
            found.setdefault(name if kind == _wire.PHASE_MARK else "step", []).append((start / 1000, end / 1000))
    return {name: rows[-STEPS:] for name, rows in found.items()}


def lengths(rows):
    return [end - start for start, end in rows]


def between_ends(rows):
    return [later[1] - former[1] for former, later in zip(rows, rows[1:])]


@pytest.mark.skipif(not torch.profiler.kineto_available(), reason="this PyTorch is built without Kineto, so it has no profiler to compare with")
@pytest.mark.parametrize("rounds, workers", [(6, 0), (160, 1)])
def test_times_are_those_of_the_profiler(agent, tmp_path, rounds, workers):
    with two_ranks(tmp_path):
        theirs, work = run(rounds, workers)
    mine = ours()
    assert {name: len(rows) for name, rows in theirs.items()} == dict.fromkeys(PHASES, STEPS)
    pairs = {name: (lengths(mine[name]), lengths(theirs[name])) for name in theirs}
    pairs["step"] = lengths(mine["step"])[1:], between_ends(theirs["optimizer"])
    for name, (one, other) in pairs.items():
        ratio = statistics.median(a / b for a, b in zip(one, other, strict=True))
        print(f"{name}: {ratio:.4f} of {statistics.median(other):.0f} us")
        assert ratio == pytest.approx(1, abs=0.02), (name, one, other)
    waited = lengths(mine["data"])
    if workers:
        assert sum(waited) < 0.95 * sum(work), "a worker worked while the training did"
    else:
        assert all(wait > each for wait, each in zip(waited, work, strict=True))
