"""The functions of PyTorch that are replaced, how little of them runs, and how they come back."""

import gc
import sys
import types
import weakref

import _stepscope_imports
import pytest
import torch
from torch import nn

import stepscope
from stepscope import _hooks, _marks
from stepscope._hooks import _compile, _patch
from stepscope._hooks._flow import flow
from tests.torch.nets import Net, loader, step, train


def functions():
    """The functions that somebody else could find changed."""
    owners = [torch, torch.autograd, torch.distributed, nn.Module, nn.MSELoss, Net, torch.Tensor, torch.cuda.amp.GradScaler,
              torch.utils.data.dataloader._BaseDataLoaderIter]
    found = {(owner.__name__, name): value for owner in owners for name, value in list(vars(owner).items()) if callable(value)}
    return {key: (value, getattr(value, "__code__", None)) for key, value in found.items()}


def test_everything_comes_back(intake, monkeypatch):
    monkeypatch.setenv("STEPSCOPE_SOCKET", str(intake.path))
    monkeypatch.setattr(_marks, "_session", type(_marks._session)())
    train(1)  # torch itself replaces some then
    before = functions()
    for _ in range(2):
        _hooks.begin(torch)
        _hooks.begin(torch)
        train(8)
        assert functions() != before and "optimizer" in _marks.notes["hooks"]
        _hooks.end()
        assert functions() == before
    _marks._session.abandon()


def test_what_others_put_on_top_stays(agent):
    function, on_top = types.FunctionType(torch.save.__code__, {}), lambda *args, **named: None
    before, code = function.__code__, on_top.__code__
    _patch.watch(types.SimpleNamespace(save=function), "save", lambda original: original)
    train(4)
    kept = nn.Module.__call__
    assert function.__code__ is not before
    function.__code__ = code
    nn.Module.__call__ = on_top
    try:
        _patch.restore()
        assert function.__code__ is code and nn.Module.__call__ is on_top
    finally:
        nn.Module.__call__ = kept


def test_a_model_of_many_modules_pays_for_its_root_only(agent):
    net = Net(layers=200)
    original = nn.Module.__call__
    train(6, net)
    assert vars(nn.Module)["__call__"] is original
    assert "__call__" in vars(Net) and "__call__" not in vars(nn.Linear)
    assert len(agent.drain().steps) == 6 and all("forward" in row["phases"] for row in agent.steps)


def test_a_new_optimizer_of_a_model_that_is_known_ends_the_search_too(agent):
    net = Net(layers=200)
    for _ in range(3):
        train(30, net)
        assert type(vars(nn.Module)["__call__"]) is types.FunctionType


def losses_of_many_modules():
    torch.manual_seed(4)
    net, losses = Net(layers=200), []
    optimizer = torch.optim.Adam(net.parameters(), 0.001)
    for x, y in loader(16, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
    return losses


def test_a_model_of_many_modules_learns_the_same(agent):
    """During its first calls, in which all modules are looked at, and behind them."""
    watched = losses_of_many_modules()
    assert len(agent.drain().steps) == 16 and "__call__" in vars(Net)
    _hooks.end()
    assert "__call__" not in vars(Net) and losses_of_many_modules() == watched and len(set(watched)) > 8


def test_the_roots_of_a_new_training_are_found(agent):
    train(6)
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    train(20, net)
    steps = agent.drain().steps
    assert len(steps) == 26 and all("forward" in row["phases"] for row in steps[-10:])


def test_nothing_is_kept_alive(agent):
    net, optimizer = train(8)
    batch = next(iter(loader(1)))[0]
    loss = net(batch).sum()
    loss.backward()
    gone = [weakref.ref(each) for each in (net, optimizer, batch, loss)]
    del net, optimizer, batch, loss
    gc.collect()
    assert [each() for each in gone] == [None] * 4


def trial():
    """A training by classes of its own, as in a search; what it leaves behind."""

    class Own(Net):
        pass

    class Optimizer(torch.optim.SGD):
        def step(self, closure=None):
            return super().step(closure)

    class Loader(torch.utils.data.DataLoader):
        def __iter__(self):
            return super().__iter__()

    net = Own()
    optimizer = Optimizer(net.parameters(), 0.01)
    for x in Loader(torch.ones(32, 8), 4):
        step(net, optimizer, x, x[:, :1])
    return [weakref.ref(each) for each in (Own, Optimizer, Loader)], "__call__" in vars(Own)


def test_classes_that_nobody_has_any_more_are_freed(agent):
    trials = [trial() for _ in range(20)]
    gc.collect()
    assert all(watched for _, watched in trials[1:]) and [each() for kinds, _ in trials for each in kinds] == [None] * 60
    trial()
    assert len(_patch._replaced) < 8


def test_the_models_of_a_long_search_are_all_seen(agent):
    """They are kept, as is what trains them."""
    kept = []
    for _ in range(24):
        kind = type("Trial", (Net,), {})
        kept.append(train(40, kind()))
    steps = agent.drain().steps
    assert len(steps) > 400 and all("forward" in row["phases"] for row in steps[-20:])
    assert all("__call__" in vars(type(net)) for net, _ in kept)


def test_gradients_that_are_asked_for_are_a_backward_pass(agent):
    net = Net()
    parameters = list(net.parameters())
    optimizer = torch.optim.SGD(parameters, 0.01)
    for x, y in loader(12):
        gradients = torch.autograd.grad(nn.functional.mse_loss(net(x), y), parameters)
        for parameter, gradient in zip(parameters, gradients):
            parameter.grad = gradient
        optimizer.step()
    steps = agent.drain().steps
    assert len(steps) >= 11 and all({"forward", "backward", "optimizer"} <= set(row["phases"]) for row in steps[2:])


def test_what_asks_for_gradients_and_has_no_optimizer_is_no_training(agent, monkeypatch):
    monkeypatch.setattr(flow, "optimizers", 0)
    net = Net()
    for x, _ in loader(20):
        x.requires_grad_()
        torch.autograd.grad(net(x).sum(), x)
    assert not agent.drain().started


class Broken(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == 5:
            raise OSError("disk")
        return torch.ones(8)


def test_exceptions_of_the_script_pass_and_it_goes_on(agent):
    net, _ = train(6)
    with pytest.raises(OSError, match="disk"):
        for _ in torch.utils.data.DataLoader(Broken(), 2):
            pass
    with pytest.raises(RuntimeError):
        net(torch.ones(4, 7))
    with pytest.raises(RuntimeError):
        torch.ones(2, requires_grad=True).backward()
    optimizer = torch.optim.LBFGS(net.parameters())
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            optimizer.step(lambda: 1 / 0)
    assert not flow.inside
    before = len(agent.drain().steps)
    del optimizer, _
    train(30, net)
    assert len(agent.drain().steps) >= before + 13


def test_a_hook_that_fails_is_not_noticed_by_the_script(agent, monkeypatch):
    def fail(*_):
        raise ValueError("ours")

    for name in ("_hold", "_put", "_settle", "leads", "ends_step", "_set_aside", "_tell_evaluation", "look_at_feed", "_tell"):
        monkeypatch.setattr(type(flow), name, fail)
    train(6)
    assert "ours" in stepscope.info()["hooks_fault"]


@pytest.mark.parametrize("place", ["compiler", "_utils", "torch._dynamo", ""])
def test_whether_torch_compiles_is_asked_where_the_version_says_it(monkeypatch, place):
    """Stand-ins of versions; in 2.0 and 2.1 `compiler`, where it is, does not tell."""
    monkeypatch.setitem(sys.modules, "torch._dynamo", types.SimpleNamespace())
    named = types.SimpleNamespace(is_compiling=lambda: True)
    if place.startswith("torch."):
        monkeypatch.setitem(sys.modules, place, named)
    version = types.SimpleNamespace(**{"compiler": types.SimpleNamespace(), place or "other": named})
    assert _compile.compiling(version) is (named.is_compiling if place else _compile.never)


def test_a_reader_that_was_there_before_us_may_have_read_something(monkeypatch):
    monkeypatch.setattr(_compile, "await_import", lambda *_: pytest.fail("its import is awaited"))
    monkeypatch.setitem(sys.modules, "torch._dynamo.symbolic_convert", types.SimpleNamespace())
    _compile.await_reader()
    assert _compile.readers


def test_a_reader_of_a_version_we_do_not_know_may_have_read_something(monkeypatch):
    monkeypatch.setattr(_compile, "readers", ["nobody has looked"])
    with pytest.raises(_patch.Unavailable, match="no .*InstructionTranslator"):
        _compile._watch_reader(types.SimpleNamespace(__name__="torch._dynamo.symbolic_convert"))
    assert _compile.readers == ["nobody has looked"]


def test_what_is_exported_before_the_reader_is_known_may_be_read(monkeypatch):
    reader = type("InstructionTranslator", (), {"__init__": lambda self: None})
    monkeypatch.setattr(_compile, "readers", ["nobody has looked"])
    monkeypatch.setitem(sys.modules, "torch.export._trace", types.SimpleNamespace())
    _compile._watch_reader(types.SimpleNamespace(__name__="reader", InstructionTranslator=reader))
    assert _compile.readers == ["nobody has looked"]
    monkeypatch.delitem(sys.modules, "torch.export._trace")
    _compile._watch_reader(types.SimpleNamespace(__name__="reader", InstructionTranslator=reader))
    assert _compile.readers == []
    reader()
    reader()
    assert _compile.readers == ["it may read frames"]


def test_nothing_is_awaited_once_the_hooks_have_gone(monkeypatch):
    places = ["torch._dynamo.symbolic_convert", "torch.export._trace"]
    for name in places:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(_compile, "readers", ["nobody has looked"])
    monkeypatch.setattr(_stepscope_imports, "_awaited", {})
    monkeypatch.setattr(sys, "meta_path", [])
    _compile.await_reader()
    assert list(_stepscope_imports._awaited) == places and sys.meta_path == [_stepscope_imports._Finder]
    _compile.forget()
    assert not _stepscope_imports._awaited and not sys.meta_path


def test_a_batch_size_of_a_sampler_is_seen(agent):
    sampler = torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(range(40)), 5, False)
    net = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x in torch.utils.data.DataLoader(torch.ones(40, 1), batch_sampler=sampler):
        step(net, optimizer, x, x)
    assert agent.drain_until(lambda i: i.started and "loader_batch_size" in i.facts(), "facts").facts()["loader_batch_size"] == "5"
