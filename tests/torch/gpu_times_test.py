"""Times of phases on the GPU, with a stand-in of CUDA's events: none of this was run on a GPU."""

import pytest
import torch
from torch import nn

import stepscope
from stepscope import _hooks, _marks
from stepscope._hooks import _gpu_times, _transfer
from stepscope._hooks._flow import flow
from tests.torch.late_test import COMPILED
from tests.torch.nets import Net, loader, step, train
from tests.torch.training import CNN, outcome, start

MILLISECOND = 1_000_000
FORWARD, BACKWARD, OPTIMIZER = 3.0, 5.0, 7.0


class Gpu:
    """A GPU with one stream: work is queued by its length, and done when `catch_up` is called."""

    def __init__(self):
        self.queued = self.done = 0.0
        self.made, self.fault, self.capturing, self.stuck = 0, None, False, None
        gpu = self

        class Event:
            def __init__(self, enable_timing=False):
                assert enable_timing
                gpu.made += 1
                self.number = gpu.made

            def record(self):
                self.at = gpu.queued

            def query(self):
                return self.at <= gpu.done and self.number != gpu.stuck

            def elapsed_time(self, other):
                if gpu.fault is not None:
                    raise gpu.fault
                return other.at - self.at

        self.Event = Event

    def work(self, milliseconds):
        self.queued += milliseconds

    def catch_up(self):
        self.done = self.queued


@pytest.fixture
def gpu(monkeypatch):
    """In the place of torch.cuda, before the hooks are installed."""
    pretended = Gpu()
    shown = type("Shown", (), {"name": "H100"})
    answers = {"is_initialized": True, "current_device": 0, "get_device_properties": shown}
    for name, answer in answers.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, answer=answer: answer)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: pretended.capturing)
    monkeypatch.setattr(torch.cuda, "Event", pretended.Event)
    monkeypatch.setenv("STEPSCOPE_GPU_TIMES", "1")
    return pretended


class Launching(Net):
    """A network whose computations take the GPU some time."""

    def __init__(self, gpu):
        super().__init__()
        self.gpu = gpu

    def forward(self, x):
        self.gpu.work(FORWARD)
        x = super().forward(x)
        if x.requires_grad:
            x.register_hook(lambda _: self.gpu.work(BACKWARD))
        return x


class Sgd(torch.optim.SGD):
    gpu = None

    def step(self, closure=None):
        self.gpu.work(OPTIMIZER)
        return super().step(closure)


def training(gpu, steps, behind=0):
    """Trains for so many steps, with the GPU so many of them `behind`."""
    net = Launching(gpu)
    optimizer = Sgd(net.parameters(), 0.01)
    optimizer.gpu, ends = gpu, []
    for x, y in loader(steps):
        step(net, optimizer, x, y)
        ends.append(gpu.queued)
        gpu.done = ends[-1 - behind] if len(ends) > behind else 0
    return net, optimizer


def told(agent):
    """Annotations of GPU times: name -> how many there were, and their mean in milliseconds."""
    agent.drain()
    return {name: (count, agent.sums[name] / count / MILLISECOND) for name, count in agent.annotations.items() if name.startswith("gpu ")}


EACH = {"gpu forward": FORWARD, "gpu backward": BACKWARD, "gpu optimizer": OPTIMIZER}


@pytest.mark.parametrize("behind", [0, 1, 3])
def test_what_the_gpu_took_is_told_under_these_names(gpu, agent, behind):
    kept = training(gpu, 20, behind)
    rows = told(agent)
    assert kept and {name: length for name, (_, length) in rows.items()} == EACH
    assert all(20 - 4 - behind <= count <= 18 for count, _ in rows.values()), rows
    assert len(agent.steps) == 20 and "gpu_times" not in stepscope.info()
    assert "GPU times" in stepscope.info()["hooks"]


def test_what_is_done_at_the_end_is_told(gpu, agent):
    kept = training(gpu, 10, behind=4)
    gpu.catch_up()
    _gpu_times.close()
    counts = {count for count, _ in told(agent).values()}
    assert kept and counts == {8} and not _gpu_times._pending  # two steps prove that this is a training


def test_an_event_that_is_never_ready_is_waited_for_by_nobody(gpu, agent):
    """The events behind it come when it has been given up."""
    gpu.stuck = 40
    training(gpu, 20)
    before = told(agent)
    training(gpu, 150)
    after = told(agent)
    assert before["gpu optimizer"][0] < 10 and after["gpu optimizer"][0] > 100 + before["gpu optimizer"][0]
    assert {name: length for name, (_, length) in after.items()} == EACH
    assert "1 times are not known: the GPU was too far behind" == stepscope.info()["gpu_times"]


def test_what_is_pending_has_a_bound(gpu, agent):
    training(gpu, 300, behind=300)
    assert len(_gpu_times._pending) == 256 and told(agent) == {}
    assert stepscope.info()["gpu_times"].startswith(f"{gpu.made // 2 - 256} times")
    assert len(agent.drain().steps) == 300


@pytest.mark.parametrize("fault", [RuntimeError("CUDA error: invalid resource handle"), ValueError("ours")])
def test_a_fault_of_the_events_is_not_noticed_by_the_script(gpu, agent, fault):
    gpu.fault = fault
    training(gpu, 12)
    assert told(agent) == {} and len(agent.steps) == 12
    assert str(fault) in stepscope.info()["gpu_times"] and len(_gpu_times._pending) <= 3
    gpu.fault = None
    training(gpu, 12)
    assert set(told(agent)) == set(EACH)


def test_events_that_cannot_be_made_are_not_noticed_by_the_script(gpu, agent, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(torch.cuda, "Event", fail)
    training(gpu, 12)
    assert told(agent) == {} and len(agent.steps) == 12 and "out of memory" in stepscope.info()["gpu_times"]


def test_an_evaluation_is_not_timed(gpu, agent):
    net, _ = training(gpu, 12)
    before = gpu.made
    with torch.no_grad():
        for x, _ in loader(8):
            net(x)
    assert gpu.made == before


def test_a_graph_that_is_captured_is_left_alone(gpu, agent):
    gpu.capturing = True
    training(gpu, 12)
    assert gpu.made == 0 and len(agent.drain().steps) == 12


def test_nothing_is_timed_before_somebody_trains(gpu, agent):
    net = Launching(gpu)
    for x, _ in loader(20):
        net(x)
    assert gpu.made == 0 and agent.drain().started == []


def test_without_a_device_nothing_is_timed_and_said_so(gpu, agent, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    training(gpu, 12)
    assert gpu.made == 0 and "no GPU times: no device is in use" in stepscope.info()["hooks"]


def test_copies_to_the_device_have_their_time(gpu, agent, monkeypatch):
    monkeypatch.setattr(_transfer, "uses_device", lambda torch: True)
    net, optimizer = training(gpu, 4)
    before = told(agent)
    for x, y in loader(6):
        x.to("meta"), x.to(torch.float64)
        step(net, optimizer, x, y)
        gpu.catch_up()
    assert "gpu transfer" not in before and told(agent)["gpu transfer"][0] in (5, 6)


def test_a_closure_has_its_times_within_that_of_the_step(gpu, agent):
    net = Launching(gpu)
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=1)
    for x, y in loader(8):
        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)
        gpu.catch_up()
    rows = told(agent)
    assert rows["gpu forward"][1] == FORWARD and rows["gpu optimizer"][1] >= FORWARD + BACKWARD


def test_an_optimizer_within_another_has_one_time(gpu, agent):
    class Slow(torch.optim.Optimizer):
        def __init__(self, fast):
            self.fast = fast
            super().__init__(fast.param_groups, {})

        def step(self, closure=None):
            self.fast.step(closure)

    net = Launching(gpu)
    fast = Sgd(net.parameters(), 0.01)
    fast.gpu = gpu
    train(8, net, Slow(fast))
    gpu.catch_up()
    _gpu_times.close()
    assert told(agent)["gpu optimizer"] == (6, OPTIMIZER)


@pytest.mark.parametrize("value", [None, "", "0"])
def test_nobody_asked(gpu, intake, monkeypatch, value):
    """The calls are what they are without this file, and no event is made."""
    monkeypatch.delenv("STEPSCOPE_GPU_TIMES")
    if value is not None:
        monkeypatch.setenv("STEPSCOPE_GPU_TIMES", value)
    call = object()
    assert _gpu_times.around(torch, "forward", call) is call
    monkeypatch.setenv("STEPSCOPE_SOCKET", str(intake.path))
    before, session = _marks._session, type(_marks._session)()
    _marks.adopt(session)
    _hooks.begin(torch)
    try:
        training(gpu, 12)
        assert gpu.made == 0 and "GPU times" not in stepscope.info()["hooks"] and flow.proven
    finally:
        _hooks.end()
        _marks.adopt(before)
        session.abandon()


def test_losses_are_the_same_and_nothing_is_said_without_a_gpu(intake):
    bare = outcome(start("-c", CNN, hooks=False))
    assert outcome(start("-c", CNN, socket=intake.path, variables={"STEPSCOPE_GPU_TIMES": "1"})) == bare
    intake.drain_until(lambda i: i.ended, "end")
    assert len(intake.steps) == 60 and intake.annotations == {"evaluation": 3}


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="this version does not compile")
def test_a_compiled_model_has_the_same_graphs(intake):
    bare = outcome(start("-c", COMPILED, hooks=False))
    assert bare[0] == 0 and outcome(start("-c", COMPILED, socket=intake.path, variables={"STEPSCOPE_GPU_TIMES": "1"})) == bare
    assert len(intake.drain_until(lambda i: i.ended, "end").steps) == 30


def test_what_the_script_raises_is_what_it_gets(gpu, agent):
    net, optimizer = training(gpu, 8)
    with pytest.raises(RuntimeError, match="shapes"):
        net(torch.ones(4, 7))
    train(4, net, optimizer)
    assert len(agent.drain().steps) == 12 and not flow.inside
