"""The begin of an epoch: the loader starts its workers, which is time without data."""

from time import monotonic_ns

import pytest
import torch
from torch.utils.data import DataLoader

from stepscope import _marks, _wire
from tests.torch.nets import Net, loader, step
from tests.torch.rings import marks


class Starts(DataLoader):
    """Notes from when to when each of them made its iterator."""

    noted = []

    def _get_iterator(self):
        begin = monotonic_ns()
        batches = super()._get_iterator()
        self.noted.append((begin, monotonic_ns()))
        return batches


@pytest.fixture
def noted(monkeypatch):
    monkeypatch.setattr(Starts, "noted", [])
    return Starts.noted


def batches(many):
    return Starts(loader(many).dataset, batch_size=4)


def epochs(net, optimizer, many):
    for _ in range(many):
        for x, y in batches(6):
            step(net, optimizer, x, y)


@pytest.fixture
def training():
    net = Net()
    return net, torch.optim.SGD(net.parameters(), 0.01)


def around(stretch, wanted):
    """How many marks of this kind or phase contain the stretch."""
    begin, end = stretch
    rows = [row for row in marks(_marks._session) if (row[3] if row[2] == _wire.PHASE_MARK else row[2]) == wanted]
    return sum(first <= begin and end <= last for first, last, *_ in rows)


def test_the_start_of_the_workers_is_a_wait_for_data(agent, training, noted):
    epochs(*training, 3)
    steps = agent.drain().steps
    assert [around(each, "data") for each in noted] == [1, 1, 1] and len(steps) == 18
    assert [around(each, _wire.STEP_MARK) for each in noted] == [1, 1, 1]
    assert all(sum(row["phases"].values()) <= row["wall_ns"] for row in steps)


def test_the_workers_of_an_evaluation_are_part_of_it(agent, training, noted):
    net = training[0]
    epochs(*training, 1)
    with torch.no_grad():
        for x, _ in batches(4):
            net(x)
    epochs(*training, 1)
    for x, _ in batches(4):
        with torch.no_grad():
            net(x)
    epochs(*training, 1)
    assert [around(each, "data") for each in noted] == [1, 0, 1, 0, 1]
    assert [around(each, _wire.ANNOTATION_MARK) for each in noted] == [0, 1, 0, 1, 0]
    steps = agent.drain().steps
    assert len(steps) == 18 and all(sum(row["phases"].values()) <= row["wall_ns"] for row in steps)


def test_without_an_optimizer_a_new_epoch_ends_the_step(agent):
    net = Net()
    for _ in range(3):
        for x, y in batches(4):
            torch.nn.functional.mse_loss(net(x), y).backward()
    assert [row["step"] for row in agent.drain().steps] == list(range(12))


def test_a_loader_that_cannot_start_says_why(agent, training):
    class Broken(DataLoader):
        def _get_iterator(self):
            raise OSError("no workers")

    epochs(*training, 2)
    with pytest.raises(OSError, match="no workers"):
        iter(Broken(loader(4).dataset))
    epochs(*training, 1)
    assert len(agent.drain().steps) == 18


def test_settings_are_told_once(agent, training, monkeypatch):
    told = []
    monkeypatch.setattr(_marks, "add_facts", told.append)
    epochs(*training, 3)
    for (x, y), _ in zip(batches(6), batches(6)):
        step(*training, x, y)
    assert [each["loader_batch_size"] for each in told if "loader_batch_size" in each] == ["4"]
    for x, y in DataLoader(loader(3).dataset, batch_size=2):
        step(*training, x, y)
    assert [each["loader_batch_size"] for each in told if "loader_batch_size" in each] == ["4", "2"]
