"""The functions that stand in the place of torch's: what they look like, and that both ways through the flow agree."""

import copy
import inspect
import pickle
import random
import subprocess
import sys
import types
import weakref
from pathlib import Path

import pytest
import torch
from torch import nn

import stepscope
from stepscope import _hooks, _marks
from stepscope._hooks import _calls
from stepscope._hooks._flow import Flow, flow
from stepscope._session import Session
from tests.torch.nets import Net, train
from tests.torch.rings import marks

ROOT = Path(__file__).resolve().parents[2]


def replaced():
    return [vars(torch.optim.SGD)["step"], vars(Net)["__call__"]]


def test_what_is_replaced_looks_like_what_it_replaces(agent):
    train(8)
    for ours, shown in zip(replaced(), [torch.optim.SGD.step, nn.Module.__call__]):
        original = ours.shown(None)
        for name in ("__name__", "__qualname__", "__doc__", "__module__"):
            assert getattr(ours, name) == getattr(original, name)
        assert inspect.signature(ours) == inspect.signature(original)
        assert copy.copy(ours) is copy.deepcopy(ours) is shown is original and weakref.ref(ours)() is ours


def test_a_class_shows_the_method_that_it_had(agent):
    class Heir(Net):
        pass

    class Own(Net):
        def __call__(self, *args):
            return super().__call__(*args)

    own = Own.__call__
    train(8)
    train(8, Own())
    assert Net.__call__ is Heir.__call__ is nn.Module.__call__ and isinstance(Net.__call__, types.FunctionType)
    assert Own.__call__ is own and all("__call__" in vars(kind) for kind in (Net, Own))
    assert torch.optim.SGD.step.hooked and isinstance(torch.optim.SGD.step, types.FunctionType)
    assert pickle.loads(pickle.dumps(Net.__call__)) is nn.Module.__call__


def test_methods_are_bound(agent):
    net, optimizer = train(8)
    for object, name in ((net, "__call__"), (optimizer, "step")):
        bound = getattr(object, name)
        assert isinstance(bound, types.MethodType) and bound.__self__ is object
        assert inspect.signature(bound.__func__) == inspect.signature(getattr(type(object), name))
    x = torch.ones(4, 8)
    assert torch.equal(net.__call__(x), net(x)) and torch.equal(Net.__call__(net, x=x), net(x))


def test_what_wraps_a_step_again_goes_on(agent):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    train(8, net, optimizer)
    scheduler.step()
    assert [row["step"] for row in agent.drain().steps] == list(range(8))


def test_a_class_of_a_script_is_sent_by_value(agent):
    """As joblib and Ray do with classes of __main__, by cloudpickle, which takes apart what says that it is a function."""
    cloudpickle = pytest.importorskip("joblib.externals.cloudpickle")

    class Local(Net):
        pass

    net = Local()
    train(8, net, torch.optim.SGD(net.parameters(), 0.1))
    assert "__call__" in vars(Local)
    read = "import pickle, sys; kind = pickle.load(sys.stdin.buffer); print(kind.__name__, kind.__call__ is kind.__mro__[-2].__call__)"
    told = subprocess.run([sys.executable, "-c", read], input=cloudpickle.dumps(Local), capture_output=True, cwd=ROOT, timeout=60)
    assert told.stdout == b"Local True\n", told.stderr


def test_models_and_optimizers_are_copied_and_pickled(agent):
    net, optimizer = train(8)
    again, settings = pickle.loads(pickle.dumps((net, optimizer.state_dict())))
    for other in (copy.deepcopy(net), again):
        fresh = torch.optim.SGD(other.parameters(), 0.01)
        fresh.load_state_dict(settings)
        train(2, other, fresh)


def rebuilt(kind, **more):
    """Another class of the same attributes, as decorators of classes make it (attrs, dataclasses with slots)."""
    attributes = {name: value for name, value in vars(kind).items() if name not in ("__dict__", "__weakref__")}
    return type(kind)(kind.__name__, kind.__bases__, {**attributes, **more})


def test_a_class_that_is_made_of_another_ones_attributes_is_like_that(agent):
    for kind in (Net, torch.optim.SGD):
        bare = sorted(vars(rebuilt(kind)))
        train(8)
        assert sorted(vars(rebuilt(kind))) == bare and type(vars(rebuilt(torch.optim.SGD))["step"]) is types.FunctionType

    class Small(nn.Module):
        def __init__(self):
            nn.Module.__init__(self)
            self.layer = nn.Linear(8, 1)

        def forward(self, x):
            return self.layer(x)

    for _ in range(3):
        train(20, Small())
        Small = rebuilt(Small)
    assert len(agent.drain().steps) == 76


def test_what_was_put_into_another_class_works_there(agent):
    class Own(nn.Module):
        def forward(self, x):
            return x

    class Heir(Net):
        pass

    class Optimizer(torch.optim.Optimizer):
        pass

    net, optimizer = train(8)
    for kind in (Own, Heir):
        kind.__call__ = vars(Net)["__call__"]
        assert kind()(torch.ones(1, 8)).shape[0] == 1 and kind.__call__ is nn.Module.__call__
    Optimizer.step = vars(torch.optim.SGD)["step"]
    assert Optimizer.step is torch.optim.SGD.step


def test_the_next_class_of_several_is_called(agent):
    class Louder(nn.Module):
        def __call__(self, *args):
            return super().__call__(*args) * 0 + 7

    class Both(Net, Louder):
        pass

    train(8)
    assert "__call__" in vars(Net) and float(Both()(torch.ones(1, 8))) == 7


def test_what_replaces_the_call_of_all_modules_later_is_called(agent, monkeypatch):
    net, _ = train(8)
    original, seen = nn.Module.__call__, []
    monkeypatch.setattr(nn.Module, "__call__", lambda module, *args: seen.append(type(module)) or original(module, *args))
    net(torch.ones(4, 8))
    assert seen[0] is Net


def test_a_call_without_an_object_is_told_as_python_does(agent):
    train(8)
    for ours in replaced():
        with pytest.raises(TypeError):
            ours()


class Stops(Net):
    reason = None

    def forward(self, x):
        if self.reason:
            raise self.reason
        return super().forward(x)


@pytest.mark.parametrize("reason", [KeyboardInterrupt(), SystemExit(3), ValueError("of the script")])
def test_what_the_script_raises_is_what_it_gets(agent, reason):
    net = Stops()
    optimizer = train(8, net)[1]
    net.reason = reason
    with pytest.raises(type(reason)) as raised:
        net(torch.ones(4, 8))
    assert raised.value is reason and not flow.inside
    net.reason = None
    train(8, net, optimizer)
    assert len(agent.drain().steps) == 16


def test_arguments_and_results_are_let_go(agent):
    net, optimizer = train(8)
    x, wrong, value = torch.ones(4, 8), torch.ones(4, 7), object()
    closure = lambda: value  # noqa: E731
    watched = (x, wrong, value, closure, net, optimizer)
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(300):
        net(x)
        with pytest.raises(RuntimeError):
            net(x=wrong)
        net(x).sum().backward(retain_graph=False)
        assert optimizer.step(closure) is value
        assert next(iter([x])) is x
    assert [sys.getrefcount(each) for each in watched] == before


class Batches:
    """An iterator that ends after each fifth batch and goes on."""

    def __init__(self):
        self.given = 0
        setattr(self, _calls.SETTINGS, {"loader_batch_size": "4"})

    def __next__(self):
        self.given += 1
        if self.given % 6 == 0:
            raise StopIteration


class Lead:
    def step(self):
        pass


class Trial:
    """A loop that does what it is told, in any order, with a flow of its own."""

    def __init__(self, watch, monkeypatch):
        monkeypatch.setattr(_calls, "_watch", watch)
        self.session, self.flow, self.gradients = Session(), Flow(), True
        if not watch:
            self.flow.quick = lambda *_: False
        _marks.adopt(self.session)
        fake = types.SimpleNamespace(is_grad_enabled=lambda: self.gradients)
        root, iterator, optimizer = type("Root", (Net,), {}), type("I", (Batches,), {}), type("O", (Lead,), {})
        root.__call__ = _calls.computing(self.flow, None, fake, "forward", root)
        iterator.__next__ = _calls.waiting(self.flow, Batches.__next__, fake.is_grad_enabled)
        optimizer.step = _calls.stepping(self.flow, Lead.step, fake)
        self.steppers = []
        self.back = _calls.going_back(self.flow, lambda: [stepper() for stepper in self.steppers])
        self.net, self.batches, self.lead, self.other = root(), iterator(), optimizer(), optimizer()
        self.x = torch.ones(1, 8)

    def wait(self):
        next(self.batches, None)

    def forward(self):
        self.net(self.x)

    def look(self):
        self.gradients = False
        self.net(self.x)
        self.gradients = True

    def evaluate(self):
        self.gradients = False
        for _ in range(3):
            self.wait()
            self.net(self.x)
        self.gradients = True

    def save(self):
        self.flow.happened(self.flow.evaluating + 1, self.flow.evaluating + 2, "checkpoint")

    def optimizer(self):
        self.flow.optimizers = 1

    def step(self):
        self.lead.step()

    def step_other(self):
        self.other.step()

    def groups(self):
        for _ in range(3):
            self.lead.step()

    def back_with_steps(self):
        self.steppers = [self.other.step, self.lead.step]
        self.back()
        self.steppers = []

    def back_with_others(self):
        self.steppers = [self.other.step]
        self.back()
        self.steppers = []

    def elsewhere(self):
        self.flow.owner += 1
        self.wait()
        self.flow.owner -= 1

    def many(self):
        for _ in range(30):
            self.forward(), self.back(), self.step()

    def by_hand(self):
        stepscope.step()

    def usual(self):
        for part in (self.wait, self.forward, self.back, self.step):
            part()

    def told(self, program):
        for part in program:
            getattr(self, part)()
        self.flow.close()
        rows = [row[2:] for row in marks(self.session)]
        state = {name: getattr(self.flow, name) for name in STATE}, self.flow.evaluating > 0, self.session._facts
        self.session.abandon()
        return rows, state


STATE = (
    *("steps", "backwards", "all_backwards", "others", "other_calls", "fresh", "fresh_others", "graded", "calls", "calls_before"),
    *("usual_calls", "unfed", "elsewhere", "hungry", "feed", "within", "led"),
)
PARTS = {"groups": 2, "back_with_steps": 2, "back_with_others": 1, "elsewhere": 1, "many": 0.3, "usual": 12, "wait": 4, "forward": 3, "look": 2, "back": 2, "evaluate": 1, "save": 3, "optimizer": 1, "step": 3, "step_other": 2, "by_hand": 0.05}


@pytest.mark.skipif(not _calls._watch, reason="there is one way only without the C extension")
def test_both_ways_tell_the_same(agent, monkeypatch):
    _hooks.end()
    before, chosen = _marks._session, random.Random(5)
    native, most = _calls._watch, 0
    for _ in range(40):
        program = chosen.choices(list(PARTS), PARTS.values(), k=chosen.randrange(10, 90))
        told = [Trial(watch, monkeypatch).told(program) for watch in (native, None)]
        assert "hooks_fault" not in _marks.notes, program
        assert told[0] == told[1], program
        most = max(most, len(told[0][0]))
    _marks.adopt(before)
    assert most > 100
