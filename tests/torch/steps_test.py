"""Steps: what becomes one, and which phases it has."""

import types

import pytest
import torch
from torch import nn

import stepscope
from stepscope import _marks
from tests.torch.gpus import take_meta_for_a_device
from tests.torch.nets import Net, loader, step, train


def numbers(agent):
    return [row["step"] for row in agent.drain().steps]


def phases(agent):
    """The phases of the steps, without the first ones, in which the roots are looked for."""
    return [set(row["phases"]) for row in agent.steps[4:]]


def test_each_step_of_the_optimizer_is_one_with_its_phases(agent):
    net = Net()
    optimizer, loss = torch.optim.SGD(net.parameters(), 0.01), nn.MSELoss()
    for x, y in loader(10):
        step(net, optimizer, x, y, loss)
    assert numbers(agent) == list(range(10))
    for row in agent.steps:
        assert set(row["phases"]) == {"data", "forward", "loss", "backward", "optimizer"}
        assert sum(row["phases"].values()) <= row["wall_ns"]


def test_a_class_of_the_script_is_a_loss_by_its_name(agent):
    class FocalLoss(nn.Module):
        def forward(self, x, y):
            return ((x - y) ** 4).mean()

    net = Net()
    optimizer, loss = torch.optim.AdamW(net.parameters()), FocalLoss()
    for x, y in loader(8):
        step(net, optimizer, x, y, loss)
    assert len(numbers(agent)) == 8 and all("loss" in row for row in phases(agent))


def test_gradient_accumulation_is_one_step(agent):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for i, (x, y) in enumerate(loader(16)):
        nn.functional.mse_loss(net(x), y).backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
    assert numbers(agent) == [0, 1, 2, 3]


def test_the_two_optimizers_of_a_gan_make_one_step(agent):
    maker, critic = Net(), Net(layers=1)
    loss = nn.BCEWithLogitsLoss()
    first, second = torch.optim.Adam(critic.parameters()), torch.optim.Adam(maker.parameters())
    for x, y in loader(12):
        with torch.no_grad():
            made = maker(x).expand(4, 8)
        first.zero_grad()
        (loss(critic(x), torch.ones(4, 1)) + loss(critic(made), torch.zeros(4, 1))).backward()
        first.step()
        second.zero_grad()
        loss(critic(maker(x).expand(4, 8)), torch.ones(4, 1)).backward()
        second.step()
    assert numbers(agent) == list(range(12))
    assert all({"data", "forward", "backward", "optimizer"} <= row for row in phases(agent))
    assert agent.annotations == {}


def test_critics_that_step_more_often_lead(agent):
    net = Net()
    often, rare = torch.optim.SGD(net.head.parameters(), 0.01), torch.optim.SGD(net.layers.parameters(), 0.01)
    for i, (x, y) in enumerate(loader(20)):
        step(net, often, x, y)
        if i % 5 == 4:
            rare.step()
    assert numbers(agent) == list(range(20))


def test_another_optimizer_leads_when_the_first_one_is_gone(agent):
    _, optimizer = train(6)
    del optimizer, _
    train(6)
    assert numbers(agent) == list(range(12))


def test_another_optimizer_leads_when_the_first_one_rests(agent):
    kept = train(6)
    train(30)
    assert kept and numbers(agent) == list(range(6 + 30 - 16))


def test_an_optimizer_within_another_counts_once(agent):
    class Slow(torch.optim.Optimizer):
        def __init__(self, fast):
            self.fast = fast
            super().__init__(fast.param_groups, {})

        def step(self, closure=None):
            self.fast.step(closure)

    net = Net()
    train(6, net, Slow(torch.optim.SGD(net.parameters(), 0.01)))
    assert numbers(agent) == list(range(6))


def test_a_closure_computes_within_the_step(agent):
    net = Net()
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)

    for x, y in loader(6):
        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)
    assert numbers(agent) == list(range(6))
    for row in agent.steps[2:]:
        assert {"forward", "backward", "optimizer"} <= set(row["phases"]) and sum(row["phases"].values()) <= row["wall_ns"]


def test_a_scaler_that_skips_is_a_step_that_did_not_update(agent):
    if not hasattr(torch.amp, "GradScaler"):
        pytest.skip("this version scales on CUDA only")
    net = Net()
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), torch.amp.GradScaler("cpu", init_scale=4.0)
    for i, (x, y) in enumerate(loader(12)):
        optimizer.zero_grad()
        scaler.scale(nn.functional.mse_loss(net(x), y)).backward()
        if i % 3 == 2:
            net.head.weight.grad.fill_(float("inf"))
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() < 4.0 and numbers(agent) == list(range(12))


def test_an_optimizer_that_a_scaler_does_not_let_step(agent):
    net = Net()
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), torch.cuda.amp.GradScaler(enabled=False)
    for i, (x, y) in enumerate(loader(12)):
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step = (lambda: None) if i % 3 == 2 else types.MethodType(type(optimizer).step, optimizer)
        scaler.step(optimizer)
    assert numbers(agent) == list(range(12))


def test_a_disabled_scaler_does_not_count_twice(agent):
    net = Net()
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), torch.cuda.amp.GradScaler(enabled=False)
    for x, y in loader(6):
        scaler.scale(nn.functional.mse_loss(net(x), y)).backward()
        scaler.step(optimizer)
        scaler.update()
    assert numbers(agent) == list(range(6))


def test_without_an_optimizer_the_batches_are_the_steps(agent):
    net = Net()
    for x, y in loader(8):
        nn.functional.mse_loss(net(x), y).backward()
        with torch.no_grad():
            for weight in net.parameters():
                weight -= 0.01 * weight.grad
                weight.grad = None
    assert numbers(agent) == list(range(8))  # the end of the loader ends the last one


def test_a_script_that_marks_its_steps_goes_before(agent):
    net, optimizer = Net(), None
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x, y in loader(8):
        with stepscope.phase("forward"):
            loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        stepscope.step()
    assert numbers(agent) == list(range(8))  # the first one began with its first phase
    for row in agent.steps[1:]:
        assert {"data", "forward", "backward", "optimizer"} <= set(row["phases"]) and sum(row["phases"].values()) <= row["wall_ns"]


def test_a_gan_that_marks_its_steps_goes_before(agent):
    net, other = Net(), Net()
    optimizers = [torch.optim.SGD(each.parameters(), 0.01) for each in (net, other)]
    for x, y in loader(8):
        step(net, optimizers[0], x, y)
        step(other, optimizers[1], x, y)
        stepscope.step()
    assert numbers(agent) == list(range(7))


def test_a_single_step_is_told_when_the_process_ends(agent):
    from stepscope._hooks._flow import flow

    train(1)
    assert numbers(agent) == []
    flow.close()
    assert numbers(agent) == [0]


def test_functions_instead_of_modules_have_the_other_phases(agent):
    weight = torch.zeros(8, 1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.01)
    for x, y in loader(8):
        optimizer.zero_grad()
        nn.functional.mse_loss(x @ weight, y).backward()
        optimizer.step()
    assert numbers(agent) == list(range(8))
    assert phases(agent) == [{"data", "backward", "optimizer"}] * 4


def test_a_checkpoint_is_a_phase(agent, tmp_path):
    net, optimizer = Net(), None
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for i, (x, y) in enumerate(loader(10)):
        step(net, optimizer, x, y)
        if i == 6:
            torch.save(net.state_dict(), tmp_path / "weights")
    numbers(agent)
    assert [row["step"] for row in agent.steps if "checkpoint" in row["phases"]] == [7]
    assert torch.load(tmp_path / "weights").keys() == net.state_dict().keys()


def test_a_copy_to_a_device_is_a_phase(agent, monkeypatch):
    take_meta_for_a_device(monkeypatch)
    net, optimizer = train(3)
    for x, y in loader(6):
        assert x.to("meta").shape == x.shape and x.to(torch.float64).dtype == torch.float64
        step(net, optimizer, x, y)
    numbers(agent)
    assert all("transfer" in row["phases"] for row in agent.steps[4:])
    assert not any("transfer" in row["phases"] for row in agent.steps[:3])


@pytest.mark.parametrize("uuid", [None, "4a3b8c7d-0000-1111-2222-333344445555"])
def test_a_gpu_is_told_of_and_that_it_works_by_itself(agent, monkeypatch, uuid):
    """There is no GPU here: the test pretends that torch has one. Older versions know no UUID."""
    shown = types.SimpleNamespace(name="NVIDIA H100 80GB HBM3", **({"uuid": uuid} if uuid else {}))
    for name, answer in (("is_initialized", True), ("current_device", 0), ("get_device_properties", shown)):
        monkeypatch.setattr(torch.cuda, name, lambda *_, answer=answer: answer)
    train(4)
    facts = agent.drain().facts()
    assert (facts["gpu_async"], facts["device_name"]) == ("True", "NVIDIA H100 80GB HBM3")
    assert facts.get("device_uuid") == (uuid and f"GPU-{uuid}")


def test_nothing_is_told_before_somebody_trains(agent):
    net = Net()
    for x, _ in loader(20):
        net(x)
    with torch.no_grad():
        for x, _ in loader(20):
            net(x)
    assert agent.drain().started == [] and _marks._session.connection is None


def test_what_is_held_back_has_a_bound(agent):
    from stepscope._hooks._flow import flow

    for _ in range(100):
        for _ in loader(20):
            pass
    assert len(flow.held) <= 513
