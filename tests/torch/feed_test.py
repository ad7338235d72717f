"""Batches that come another way than through a loader in the training thread: that is told, not measured."""

import queue
import threading

import pytest
import torch

import stepscope
from tests.torch.nets import Net, loader, step


class Ahead(threading.Thread):
    """Reads a loader and hands its batches over."""

    def __init__(self, batches):
        super().__init__(daemon=True)
        self.batches, self.queue = batches, queue.Queue(2)
        self.start()

    def run(self):
        for batch in self.batches:
            self.queue.put(batch)
        self.queue.put(None)

    def __iter__(self):
        return iter(self.queue.get, None)


def plain(batches):
    return [(torch.ones(4, 8), torch.ones(4, 1))] * batches


def facts_after(agent, *feeds):
    """The facts that the agent has after a training on each of these in turn."""
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for batches in feeds:
        for x, y in batches:
            step(net, optimizer, x, y)
    agent.drain_until(lambda a: len(a.steps) and a.started, "the training is known")
    return {name: value for name, value in agent.facts().items() if name in ("loader", "loader_thread")}


@pytest.mark.parametrize("make", [lambda: iter(loader(40)), lambda: loader(40)], ids=["iterator of this thread", "iterator of that thread"])
def test_a_thread_that_reads_the_loader_is_told(agent, make):
    assert facts_after(agent, Ahead(make())) == {"loader_thread": "another"}


def test_a_loader_in_the_training_thread_is_nothing_to_tell(agent):
    assert facts_after(agent, loader(100)) == {}


def test_a_thread_that_infers_beside_is_not_the_trainings_loader(agent):
    ended = threading.Event()

    def infer():
        while not ended.is_set():
            list(loader(2))

    thread = threading.Thread(target=infer)
    thread.start()
    facts = facts_after(agent, loader(100))
    ended.set()
    thread.join()
    assert facts == {}


@pytest.mark.parametrize("batches, facts", [(30, {}), (60, {"loader": "none seen"}), (200, {"loader": "none seen"})])
def test_a_training_without_a_loader_is_told_when_that_is_sure(agent, batches, facts):
    assert facts_after(agent, plain(batches)) == facts


def test_a_loader_that_comes_later_is_told_too(agent):
    assert facts_after(agent, plain(60), loader(20)) == {"loader": "seen"}
    assert facts_after(agent, plain(20)) == {"loader": "seen"}


def test_a_loader_that_moves_to_another_thread_and_back(agent):
    assert facts_after(agent, loader(20), Ahead(loader(40))) == {"loader_thread": "another"}


def test_a_loader_that_comes_back_from_another_thread(agent):
    assert facts_after(agent, Ahead(loader(40)), loader(40)) == {"loader_thread": "training"}


def test_the_loader_of_an_evaluation_does_not_feed_the_training(agent):
    net, told = Net(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for _ in range(5):
        for x, y in plain(30):
            step(net, optimizer, x, y)
        with torch.no_grad():
            for x, _ in loader(4):
                net(x)
        told.append(agent.drain().facts().get("loader") if agent.drain().started else None)
    assert told[0] is None and told[2:] == ["none seen"] * 3


def test_a_script_that_ends_its_steps_itself_says_what_it_waits_for(agent):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x, y in plain(100):
        step(net, optimizer, x, y)
        stepscope.step()
    agent.drain()
    assert "loader" not in agent.facts()
