"""Our times beside those of torch.profiler, of the same steps."""

import statistics

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stepscope import _marks, _wire
from tests.torch.nets import step
from tests.torch.rings import marks

STEPS, WARM = 14, 4


class Images(Dataset):
    """Each takes milliseconds of real work, so that the profiler's own time is small beside it."""

    def __len__(self):
        return (STEPS + WARM) * 2

    def __getitem__(self, i):
        image = torch.full((160, 160), i / 100)
        for _ in range(6):
            image = torch.tanh(image @ image / 160)
        return image[:64, :64].reshape(1, 64, 64), image[:8, 0]


def net():
    return nn.Sequential(nn.Conv2d(1, 64, 5), nn.ReLU(), nn.Conv2d(64, 48, 5), nn.Flatten(), nn.Linear(48 * 56 * 56, 8))


def run():
    """The intervals that Kineto saw, of the last steps: {what: [(start, end)]}, in microseconds."""
    model = net()
    optimizer = torch.optim.Adam(model.parameters())
    batches = iter(DataLoader(Images(), 2))
    for _ in range(WARM):
        step(model, optimizer, *next(batches))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for _ in range(STEPS):
            x, y = next(batches)
            optimizer.zero_grad()
            with torch.profiler.record_function("forward"):
                out = model(x)
            loss = nn.functional.mse_loss(out, y)
            with torch.profiler.record_function("backward"):
                loss.backward()
            optimizer.step()
    found = {}
    for event in profile.events():
        name = "data" if "DataLoaderIter.__next__" in event.name else event.name
        name = "optimizer" if name.startswith("Optimizer.step#") else name
        if name in ("data", "forward", "backward", "optimizer"):
            found.setdefault(name, []).append((event.time_range.start, event.time_range.end))
    return found


def ours():
    """The same of our marks, and the steps."""
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
def test_times_are_those_of_the_profiler(agent):
    theirs = run()
    mine = ours()
    assert {name: len(rows) for name, rows in theirs.items()} == dict.fromkeys(("data", "forward", "backward", "optimizer"), STEPS)
    pairs = {name: (lengths(mine[name]), lengths(theirs[name])) for name in theirs}
    pairs["step"] = lengths(mine["step"])[1:], between_ends(theirs["optimizer"])
    for name, (one, other) in pairs.items():
        ratio = statistics.median(a / b for a, b in zip(one, other, strict=True))
        print(f"{name}: {ratio:.4f} of {statistics.median(other):.0f} us")
        assert ratio == pytest.approx(1, abs=0.02), (name, one, other)
