"""Loops that do things in any order, or very often: nothing reaches the script, and nothing is invented."""

import random
import threading
import time
import types

import pytest
import torch

import stepscope
from stepscope import _marks, _wire
from stepscope._hooks import _calls
from stepscope._hooks._flow import Flow
from stepscope._session import Session
from tests.torch.nets import Net, loader, step, train
from tests.torch.rings import marks

KINDS = {"data": 3, "forward": 4, "look": 2, "backward": 3, "optimizer": 3, "other": 1, "within": 1, "foreign": 1, "over": 1, "checkpoint": 1}


class Loop:
    """Calls what is watched, as it is told, and notes when each call really ran."""

    def __init__(self):
        self.session, self.flow, self.gradients = Session(), Flow(), True
        _marks.adopt(self.session)
        self.flow.optimizers = 2
        self.ran, self.step_within, self.ends = [], None, False
        fake = types.SimpleNamespace(is_grad_enabled=lambda: self.gradients)
        batches, root = type("Batches", (), {"__next__": self._batch}), type("Root", (), {})
        batches.__next__ = _calls.waiting(self.flow, batches.__next__, fake.is_grad_enabled)
        root.__call__ = _calls.computing(self.flow, lambda _: self._ran("forward"), fake, "forward", root)
        kind = type("Optimizer", (), {"step": lambda _: self._ran("optimizer")})
        kind.step = _calls.stepping(self.flow, kind.step, fake)
        self.batches, self.net, self.optimizers = batches(), root(), [kind(), kind()]
        self.back = _calls.going_back(self.flow, self._back)

    def _ran(self, phase):
        self.ran.append((time.monotonic_ns(), phase))

    def _batch(self, _):
        self._ran("data")
        if self.ends:
            raise StopIteration
        return 1

    def _back(self):
        self._ran("backward")
        if self.step_within:
            self.step_within.step()

    def do(self, what, chosen):
        getattr(self, "do_" + what, lambda _: None)(chosen)

    def do_data(self, _):
        next(self.batches)

    def do_over(self, _):
        self.ends = True
        with pytest.raises(StopIteration):
            next(self.batches)
        self.ends = False

    def do_forward(self, _):
        self.net()

    def do_look(self, _):
        self.gradients = False
        self.net()
        self.gradients = True

    def do_backward(self, _):
        self.back()

    def do_optimizer(self, _):
        self.optimizers[0].step()

    def do_other(self, _):
        self.optimizers[1].step()

    def do_within(self, chosen):
        self.step_within = chosen.choice(self.optimizers)
        self.back()
        self.step_within = None

    def do_foreign(self, chosen):
        thread = threading.Thread(target=self.do, args=(chosen.choice(["data", "forward", "backward", "optimizer"]), chosen))
        thread.start()
        thread.join()

    def do_checkpoint(self, _):
        now = time.monotonic_ns()
        self._ran("checkpoint")
        self.flow.happened(now, time.monotonic_ns(), "checkpoint")


@pytest.mark.parametrize("seed", range(12))
def test_any_order_of_calls_is_told_as_it_was(agent, seed):
    before, chosen = _marks._session, random.Random(seed)
    loop = Loop()
    # Short runs of few kinds reach states that an even mix never does.
    for _ in range(60):
        kinds = chosen.sample(list(KINDS), chosen.randrange(1, 5))
        for what in chosen.choices(kinds, [KINDS[each] for each in kinds], k=chosen.randrange(1, 30)):
            loop.do(what, chosen)
    loop.flow.close()
    told = marks(loop.session)
    _marks.adopt(before)
    loop.session.abandon()
    assert "hooks_fault" not in _marks.notes and len(told) > 100
    check(told, loop.ran, loop.flow)


def check(told, ran, flow):
    left = list(ran)
    for start, end, kind, name in told:
        if kind == _wire.PHASE_MARK:
            place = next((i for i, (at, phase) in enumerate(left) if start <= at <= end and phase == name), None)
            assert place is not None, f"a {name} that did not run"
            del left[place]
    steps = [(start, end) for start, end, kind, _ in told if kind == _wire.STEP_MARK]
    assert len(steps) <= flow.steps
    assert all(start < end for start, end in steps) and all(one[1] <= other[0] for one, other in zip(steps, steps[1:]))
    stretches = [(start, end) for start, end, kind, _ in told if kind == _wire.ANNOTATION_MARK]
    assert all(one[1] <= other[0] for one, other in zip(stretches, stretches[1:]))
    assert all(end <= one[0] or one[1] <= start for one in stretches for start, end, kind, _ in told if kind == _wire.PHASE_MARK)


def test_ten_thousand_phases_in_a_step(agent):
    net, optimizer = train(8)
    for _ in range(3):
        x, y = torch.ones(1, 8), torch.ones(1, 1)
        for _ in range(5):
            for _ in range(2_000):
                net(x)
            agent.drain()  # the ring holds 8,192 marks, and a fast machine makes as many between two readings
        step(net, optimizer, x, y)
        agent.drain()
    assert [row["step"] for row in agent.steps] == list(range(11))
    assert all(sum(row["phases"].values()) <= row["wall_ns"] for row in agent.steps)


def test_more_phases_than_the_ring_holds_are_counted_and_the_step_is_left_out(agent):
    net, optimizer = train(8)
    agent.drain()
    x, y = torch.ones(1, 8), torch.ones(1, 1)
    while not stepscope.info()["dropped"]:
        with stepscope.phase("other"):
            pass
    step(net, optimizer, x, y)
    agent.drain()
    train(8, net, optimizer)
    ended = [row["step"] for row in agent.drain().steps]
    assert ended[:8] == list(range(8)) and len(ended) >= 15
    assert all(sum(row["phases"].values()) <= row["wall_ns"] for row in agent.steps)


def test_many_computations_without_gradients_stay_bounded(agent):
    from stepscope._hooks._flow import flow

    net, optimizer = train(8)
    x = torch.ones(1, 8)
    batches = iter(loader(4))
    next(batches)
    with torch.no_grad():
        for _ in range(5_000):
            net(x)
    assert len(flow.held) <= 513
    train(8, net, optimizer)
    assert len(agent.drain().steps) == 16


def test_steps_without_phases(agent):
    class Bare(torch.optim.Optimizer):
        def __init__(self):
            super().__init__([torch.zeros(1, requires_grad=True)], {})

        def step(self, closure=None):
            pass

    bare = Bare()
    for _ in range(50):
        bare.step()
    assert len(agent.drain().steps) >= 49
    assert all(set(row["phases"]) <= {"optimizer"} for row in agent.steps)


def test_phases_without_steps_are_never_told(agent):
    net = Net()
    for x, _ in loader(300):
        net(x).sum()
    for _ in range(2_000):
        net(torch.ones(1, 8)).sum()
    assert agent.drain().steps == [] and marks(_marks._session) == []
