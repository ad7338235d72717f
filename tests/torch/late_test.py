"""A training that began before the agent of its node did."""

import json

import pytest
import torch
from torch import nn

from stepscope import _hooks, _marks, _place
from stepscope._hooks._flow import flow
from tests.python.alone import place, session_alone  # noqa: F401
from tests.python.intake import Intake
from tests.torch.nets import Net, loader, step, train
from tests.torch.training import CNN, outcome, start


@pytest.fixture
def alone(place, monkeypatch):
    """The hooks in this process too."""
    with session_alone(place, monkeypatch) as session:
        _hooks.begin(torch)
        yield session
        _hooks.end()


def test_what_each_step_calls_is_left_alone_until_there_is_an_agent(alone, place):
    batches = torch.utils.data.dataloader._BaseDataLoaderIter

    def found():
        return batches.__next__.__code__, vars(nn.Module)["__call__"], torch.autograd.backward.__code__

    before = found()
    net, optimizer = train(20)
    assert found() == before
    assert not alone.ready and flow.held == [] and "waits: no agent" in _marks.notes["hooks"]
    with Intake(place) as agent:
        alone.due = 0
        train(21, net, optimizer)  # the first one finds the agent at its end
        assert all(now is not then for now, then in zip(found()[::2], before[::2])) and "the rest waits" not in _marks.notes["hooks"]
        steps = agent.drain().steps
        assert [row["step"] for row in steps] == list(range(20))
        assert all({"data", "forward", "backward", "optimizer"} == set(row["phases"]) for row in steps), [sorted(row['phases']) for row in steps]
        facts = agent.facts()
        assert (facts["loader_batch_size"], facts["loader_num_workers"]) == ("4", "0")


def test_an_epoch_without_an_end_tells_its_loader_too(alone, place):
    """A training on a stream has one: its iterator was made before the agent came."""
    batches, net = iter(loader(20, pin_memory=False)), Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    step(net, optimizer, *next(batches))
    with Intake(place) as agent:
        alone.due = 0
        for x, y in batches:
            step(net, optimizer, x, y)
        assert len(agent.drain().steps) == 18 and agent.facts()["loader_pin_memory"] == "False"


def test_the_optimizer_whose_step_finds_the_agent_leads(alone, place):
    """The two optimizers are a GAN's, whose steps are whole from there on."""
    nets = [Net(), Net()]
    first, second = (torch.optim.SGD(net.parameters(), 0.01) for net in nets)
    with Intake(place) as agent:
        for i, (x, y) in enumerate(loader(12)):
            step(nets[0], first, x, y)
            alone.due = alone.due if i else 0
            step(nets[1], second, x, y)
        steps = agent.drain().steps
        assert [row["step"] for row in steps] == list(range(11))
        assert all(set(row["phases"]) == {"data", "forward", "backward", "optimizer"} for row in steps)


def test_a_scheduler_keeps_the_step_that_it_found(alone, place):
    """A scheduler puts a step of its own in front of the optimizer's, which nobody can replace afterwards."""
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5)
    with Intake(place) as agent:
        alone.due = 0
        for x, y in loader(12):
            step(net, optimizer, x, y)
            scheduler.step()
        assert len(agent.drain().steps) == 11


def test_a_stopped_agent_is_no_hindrance_to_a_dormant_training(alone, monkeypatch):
    def fail():
        raise OSError("no such node")

    monkeypatch.setattr(_place, "socket_path", fail)
    alone.due = 0
    train(3)
    assert flow.dormant and "hooks_fault" not in _marks.notes


WAITING = CNN.replace("done += 1\n", """done += 1
            ours = sys.modules.get("stepscope")
            while done == 20 and ours and not ours.info()["connected"]:
                with ours.annotate("waits"): pass
""")


@pytest.mark.parametrize("pure", ["", "1"])
def test_losses_are_bit_identical_when_the_agent_comes_in_the_middle(place, pure):
    variables = {"XDG_RUNTIME_DIR": str(place.parent.parent), "STEPSCOPE_PURE": pure}
    bare = outcome(start("-c", CNN, hooks=False))
    process = start("-c", WAITING, socket=None, variables=variables)
    losses = [process.stdout.readline() for _ in range(19)]  # all that it prints before it waits
    with Intake(place) as agent:
        code, out, err = outcome(process)
        assert (code, "".join(losses) + out, err) == bare and code == 0
        agent.drain_until(lambda i: i.ended, "end")
        assert 35 <= len(agent.steps) <= 40 and agent.facts()["framework"].startswith("torch ")
        assert agent.annotations["evaluation"] >= 2 and agent.facts()["loader_num_workers"] == "1"


COMPILED = """
import json, os, torch
from torch import nn
graphs = []
def backend(graph, inputs):
    graphs.append(len(graph.graph.nodes))
    return graph.forward
torch.manual_seed(1)
net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.01)
compiled = torch.compile(net, backend=backend)
losses, come = [], os.environ.get("COME")
def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = compiled(torch.ones(4, 8)).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
train(10)
if come:
    print("alone", flush=True)
    input()
    import stepscope, time
    give_up = time.monotonic() + 100
    while not stepscope.info()["connected"] and time.monotonic() < give_up:
        with stepscope.annotate("waits"): pass
train(20)
breaks = {str(reason): count for reason, count in torch._dynamo.utils.counters["graph_break"].items()}
print(json.dumps({"graphs": graphs, "breaks": breaks, "losses": losses}))
"""


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="this version does not compile")
def test_a_compiled_model_is_not_compiled_again(place):
    bare = outcome(start("-c", COMPILED, hooks=False))
    process = start("-c", COMPILED, socket=None, variables={"XDG_RUNTIME_DIR": str(place.parent.parent), "COME": "1"})
    assert process.stdout.readline() == "alone\n"
    with Intake(place) as agent:
        process.stdin.write("\n")
        code, out, err = outcome(process)
        assert (code, json.loads(out)) == (0, json.loads(bare[1])), err
        agent.drain_until(lambda i: i.ended, "end")
        assert len(agent.steps) >= 17 and all("forward" in row["phases"] for row in agent.steps)


@pytest.mark.parametrize("calls", [1, 4, 40])
def test_a_training_that_steps_for_each_group_is_counted_by_iterations(alone, place, calls):
    """The agent is found in the middle of an iteration."""
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    with Intake(place) as agent:
        for i, (x, y) in enumerate(loader(30)):
            nn.functional.mse_loss(net(x), y).backward()
            for at in range(calls):
                if i == 5 and at == calls // 2:
                    alone.due = 0
                optimizer.step()
        assert 24 <= len(agent.drain().steps) <= 24 + 2 * 1 + (calls > 1)


def test_optimizers_in_the_backward_pass_that_finds_the_agent(alone, place):
    from tests.torch.boundaries_test import in_backward

    net = Net(layers=8)
    kept = in_backward(net)
    with Intake(place) as agent:
        for i, (x, y) in enumerate(loader(30)):
            if i == 5:
                alone.due = 0
            nn.functional.mse_loss(net(x), y).backward()
        assert kept and [row["step"] for row in agent.drain().steps] == list(range(24))
