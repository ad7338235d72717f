"""Steps that are not steps: an optimizer's step() may be called many times in one iteration, or within the backward pass."""

import _thread
import gc
import threading

import pytest
import torch
from torch import nn

from tests.torch.nets import Net, loader, step, train

USUAL = {"data", "forward", "backward", "optimizer"}


def numbers(agent):
    return [row["step"] for row in agent.drain().steps]


def whole(agent, first=6):
    """Whether each step has all phases of an iteration; not the first ones, in which the roots are looked for."""
    return all(USUAL <= set(row["phases"]) and sum(row["phases"].values()) <= row["wall_ns"] for row in agent.steps[first:])


def in_backward(net, call=lambda update: update()):
    """Gives each parameter an optimizer that steps as soon as the gradient is there. The result keeps them alive."""
    kept = []
    for parameter in net.parameters():
        optimizer = torch.optim.SGD([parameter], 0.01)

        def update(*_, optimizer=optimizer):
            call(lambda: (optimizer.step(), optimizer.zero_grad()))

        if hasattr(parameter, "register_post_accumulate_grad_hook"):
            parameter.register_post_accumulate_grad_hook(update)
            kept.append(optimizer)
        else:
            node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
            node.register_hook(update)
            kept.append((optimizer, node))
    return kept


def in_a_thread_of_autograd(update):
    """On a GPU autograd calls hooks in a thread of its own, which Python has not started."""
    done = threading.Event()

    def run():
        update()
        done.set()

    _thread.start_new_thread(run, ())
    assert done.wait(60)


@pytest.mark.parametrize("call", [lambda update: update(), in_a_thread_of_autograd])
def test_optimizers_that_step_in_the_backward_pass_make_one_step_of_it(agent, call):
    net = Net(layers=20)
    kept = in_backward(net, call)
    for x, y in loader(40):
        nn.functional.mse_loss(net(x), y).backward()
    assert len(kept) == 42 and numbers(agent) == list(range(40)) and whole(agent)


def test_an_optimizer_beside_those_in_the_backward_pass_is_part_of_the_step(agent):
    net, rest = Net(layers=4), Net()
    kept = in_backward(net)
    optimizer = torch.optim.SGD(rest.parameters(), 0.01)
    for x, y in loader(40):
        step(lambda x: net(x) + rest(x), optimizer, x, y)
    assert kept and numbers(agent) == list(range(40)) and whole(agent)


def test_a_parameter_that_rests_does_not_stop_the_steps(agent):
    """The parameters of the expert that led get no gradient any more."""
    net, experts = Net(layers=2), [Net(layers=1), Net(layers=1)]
    kept = [in_backward(each) for each in (experts[0], experts[1], net)]
    for i, (x, y) in enumerate(loader(60)):
        nn.functional.mse_loss(net(x) + experts[i >= 20](x), y).backward()
    assert kept and 60 - 16 - 2 <= len(numbers(agent)) <= 60


@pytest.mark.parametrize("groups", [2, 6, 40, 200])
def test_one_optimizer_that_steps_for_each_group_makes_one_step(agent, groups):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x, y in loader(30):
        nn.functional.mse_loss(net(x), y).backward()
        for _ in range(groups):
            optimizer.step()
        optimizer.zero_grad()
    extra = max(groups - 64, 0)  # so many calls without a backward pass may be a training that has none
    assert numbers(agent)[extra:] == list(range(extra, 30 + extra)) and whole(agent, 6 + extra)


def test_groups_without_modules_and_loaders_make_one_step(agent):
    weight = torch.zeros(8, 1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.01)
    for _ in range(30):
        (torch.ones(4, 8) @ weight).sum().backward()
        for _ in range(5):
            optimizer.step()
    assert numbers(agent) == list(range(30))


def test_groups_that_become_more_are_one_step_again(agent):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for i, (x, y) in enumerate(loader(40)):
        nn.functional.mse_loss(net(x), y).backward()
        for _ in range(1 if i < 10 else 4):
            optimizer.step()
    assert 40 <= len(numbers(agent)) <= 40 + 2 * 3


@pytest.mark.parametrize("count", [2, 6, 30])
def test_several_optimizers_once_each_make_one_step(agent, count):
    net = Net(layers=count)
    optimizers = [torch.optim.SGD(layer.parameters(), 0.01) for layer in net.layers]
    for x, y in loader(40):
        nn.functional.mse_loss(net(x), y).backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
    assert numbers(agent) == list(range(40)) and whole(agent)


def test_accumulation_with_groups_is_one_step(agent):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for i, (x, y) in enumerate(loader(40)):
        nn.functional.mse_loss(net(x), y).backward()
        if i % 4 == 3:
            for _ in range(6):
                optimizer.step()
            optimizer.zero_grad()
    assert numbers(agent) == list(range(10))


def test_a_step_ends_with_the_first_call_so_that_what_follows_is_in_the_next_one(agent, tmp_path):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for i, (x, y) in enumerate(loader(12)):
        step(net, optimizer, x, y)
        if i == 6:
            torch.save(net.state_dict(), tmp_path / "weights")
    numbers(agent)
    assert [row["step"] for row in agent.steps if "checkpoint" in row["phases"]] == [7]


def test_an_optimizer_made_anew_takes_over_from_the_one_before(agent):
    net, kept = Net(), []
    for epoch in range(6):
        optimizer = torch.optim.SGD(net.parameters(), 0.01)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        for x, y in loader(10):
            step(net, optimizer, x, y)
        scheduler.step()
        if epoch == 3:
            kept.append(optimizer)  # somebody has a list of them
    assert kept and numbers(agent) == list(range(58))


def evolve(steps, net=None, look=None):
    net = net or Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for _ in range(steps):
        if look:
            look(net)
        for parameter in net.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()
    return net, optimizer


@pytest.mark.parametrize("look", [None, lambda net: net(torch.ones(1, 8)), lambda net: [torch.no_grad()(net)(torch.ones(1, 8)) for _ in range(2)]])
def test_without_a_backward_pass_each_call_is_a_step(agent, look):
    evolve(100, look=look)
    ended = numbers(agent)
    assert len(ended) >= 99


def test_without_a_backward_pass_a_batch_may_serve_many_steps(agent):
    next(iter(loader(1)))
    evolve(100)
    next(iter(loader(1)))
    evolve(100)
    assert len(numbers(agent)) >= 198 - 16


def test_a_graph_that_is_replayed_hides_the_backward_pass(agent):
    """As with CUDA graphs: some iterations are seen before the capture, afterwards only the optimizer's step is."""
    _, optimizer = train(10)
    for _ in range(100):
        optimizer.step()
    assert len(numbers(agent)) == 110


def test_a_training_by_gradients_of_its_own_after_one_with_a_backward_pass(agent):
    kept = train(10)
    evolve(200)
    assert kept and len(numbers(agent)) >= 10 + 200 - 16 - 64 - 1


def test_one_after_the_other_trains_with_groups(agent):
    """The second model's optimizer leads when the first one is gone, and has its own number of groups."""
    for groups in (3, 5):
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), 0.01)
        for x, y in loader(20):
            nn.functional.mse_loss(net(x), y).backward()
            for _ in range(groups):
                optimizer.step()
        del optimizer
        gc.collect()
    assert numbers(agent) == list(range(40))


def test_a_thread_that_steps_while_another_goes_back_is_not_in_it(agent):
    net, other = Net(), Net()
    optimizer, foreign = torch.optim.SGD(net.parameters(), 0.01), torch.optim.SGD(other.parameters(), 0.01)

    def beside(gradient):
        thread = threading.Thread(target=foreign.step)
        thread.start()
        thread.join()
        return gradient

    train(8, net, optimizer)
    net.head.weight.register_hook(beside)
    train(8, net, optimizer)
    assert numbers(agent) == list(range(16))


def test_a_penalty_on_gradients_is_part_of_the_backward_pass(agent):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x, y in loader(12):
        x.requires_grad_()
        out = net(x)
        (slope,) = torch.autograd.grad(out.sum(), x, create_graph=True)
        optimizer.zero_grad()
        (nn.functional.mse_loss(out, y) + slope.norm()).backward()
        optimizer.step()
    assert numbers(agent) == list(range(12))


def test_a_second_backward_pass_before_the_step_is_in_it(agent):
    """Sharpness-aware: a climb along the gradients, another backward pass, one step."""
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x, y in loader(12):
        for _ in range(2):
            optimizer.zero_grad()
            nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
    assert numbers(agent) == list(range(12))


def test_a_search_along_a_line_goes_back_within_the_step(agent):
    net = Net()
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4, line_search_fn="strong_wolfe")
    for x, y in loader(12):

        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)
    assert numbers(agent) == list(range(12))


@pytest.fixture
def alone_in_a_group(tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/group", rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def applied(net):
    from torch.distributed import optim

    apply = getattr(optim, "_apply_optimizer_in_backward", None)
    if apply is None:
        pytest.skip("this version does not apply optimizers in the backward pass")
    apply(torch.optim.SGD, net.parameters(), {"lr": 0.01})
    return net


def test_optimizers_that_torch_applies_in_the_backward_pass(agent):
    net = applied(Net(layers=8))
    for x, y in loader(40):
        nn.functional.mse_loss(net(x), y).backward()
    assert numbers(agent) == list(range(40)) and whole(agent)


def test_ranks_that_partition_their_optimizer(agent, alone_in_a_group):
    from torch.distributed.optim import ZeroRedundancyOptimizer

    net = nn.parallel.DistributedDataParallel(Net())
    optimizer = ZeroRedundancyOptimizer(net.parameters(), optimizer_class=torch.optim.SGD, lr=0.01)
    for x, y in loader(20):
        step(net, optimizer, x, y)
    assert numbers(agent) == list(range(20)) and whole(agent)


def test_units_that_free_and_gather_their_parameters_step_one_by_one(agent):
    """As with fully sharded parameters: hooks around each unit, one optimizer a unit, all after the backward pass."""
    net = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(6)], nn.Linear(8, 1))
    gathered = []
    for unit in net:
        unit.register_forward_pre_hook(lambda *_: gathered.append(1))
        unit.register_full_backward_hook(lambda *_: gathered.append(0))
    optimizers = [torch.optim.AdamW(unit.parameters()) for unit in net]
    for x, y in loader(30):
        x.requires_grad_()
        nn.functional.mse_loss(net(x), y).backward()
        for optimizer in reversed(optimizers):
            optimizer.step()
            optimizer.zero_grad()
    assert gathered and numbers(agent) == list(range(30)) and whole(agent)
