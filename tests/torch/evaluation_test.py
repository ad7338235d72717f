"""What is computed without gradients: evaluation, which is apart from the steps, or a part of a step."""

import time

import pytest
import torch
from torch import nn

from tests.torch.nets import Net, loader, step, train


class Slow(Net):
    """As an evaluation takes longer than a step."""

    def forward(self, x):
        if not torch.is_grad_enabled():
            time.sleep(0.01)
        return super().forward(x)


def within(net, batches=6, modes=(torch.no_grad,)):
    net.eval()
    with modes[0]():
        for x, _ in loader(batches):
            net(x)
    net.train()


def around(net, batches=6):
    for x, _ in loader(batches):
        with torch.no_grad():
            net(x)


def without_a_loader(net, batches=6):
    with torch.no_grad():
        for _ in range(batches):
            net(torch.ones(4, 8))


def by_a_function(net, batches=6):
    @torch.no_grad()
    def evaluate():
        return [nn.functional.mse_loss(net(x), y) for x, y in loader(batches)]

    evaluate()


def in_inference_mode(net):
    within(net, modes=(torch.inference_mode,))


WAYS = (within, around, without_a_loader, by_a_function, in_inference_mode)


@pytest.mark.parametrize("evaluate", WAYS)
def test_an_evaluation_is_apart_from_the_steps(agent, evaluate):
    net = Slow()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for _ in range(3):
        train(8, net, optimizer)
        evaluate(net)
    train(8, net, optimizer)
    steps = agent.drain().steps
    assert [row["step"] for row in steps] == list(range(32))
    assert agent.annotations == {"evaluation": 3}
    for row in steps:
        assert row["wall_ns"] < 50_000_000 and sum(row["phases"].values()) <= row["wall_ns"]
    # Its waits and its forward passes are not those of the step that it interrupts.
    assert all(steps[at]["phases"]["forward"] < 10_000_000 for at in (8, 16, 24))


def test_an_evaluation_before_the_training_is_not_in_it(agent):
    net = Slow()
    within(net)
    train(6, net)
    steps = agent.drain().steps
    assert len(steps) == 6 and steps[0]["wall_ns"] < 50_000_000


def test_the_annotation_is_as_long_as_the_evaluation(agent):
    net = Slow()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    train(8, net, optimizer)
    began = time.monotonic_ns()
    within(net, 10)
    took = time.monotonic_ns() - began
    time.sleep(0.2)
    train(8, net, optimizer)
    agent.drain()
    assert 0.5 * took < agent.sums["evaluation"] <= took


def test_an_evaluation_at_the_end_is_told_when_the_process_ends(agent):
    from stepscope._hooks._flow import flow

    net, _ = train(8)
    within(net)
    flow.close()
    assert agent.drain().annotations == {"evaluation": 1}


@pytest.mark.parametrize("looks", [1, 4])
def test_a_teacher_is_a_part_of_the_step(agent, looks):
    net, teacher = Net(), Net(layers=1)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x, _ in loader(12):
        with torch.no_grad():
            for _ in range(looks):
                y = teacher(x)
        step(net, optimizer, x, y)
    assert [row["step"] for row in agent.drain().steps] == list(range(12))
    assert agent.annotations == {}


def test_a_checkpoint_before_an_evaluation_stays_in_its_step(agent, tmp_path):
    net = Slow()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for _ in range(2):
        train(8, net, optimizer)
        torch.save(net.state_dict(), tmp_path / "weights")
        within(net)
        torch.save(net.state_dict(), tmp_path / "best")
    train(8, net, optimizer)
    steps = agent.drain().steps
    assert [row["step"] for row in steps if "checkpoint" in row["phases"]] == [8, 16]
    assert agent.annotations == {"evaluation": 2} and max(row["wall_ns"] for row in steps) < 50_000_000
