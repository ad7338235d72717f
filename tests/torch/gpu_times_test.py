"""Times of steps by the GPU's clock, with a stand-in of CUDA's events. What a real GPU said is in tests/causes/recordings."""

import pytest
import torch
from torch import nn

import stepscope
from stepscope import _hooks, _marks
from stepscope._hooks import _gpu_budget, _gpu_edges, _gpu_times
from stepscope._hooks._flow import flow
from tests.support.service import ROOT
from tests.torch.gpus import BACKWARD, FORWARD, IDLE, OPTIMIZER, Launching, Sgd, Stream, gpu, take_meta_for_a_device, training  # noqa: F401
from tests.torch.late_test import COMPILED
from tests.torch.nets import loader, step, train
from tests.torch.rings import gpu_times
from tests.torch.training import CNN, outcome, start

MILLISECOND = 1_000_000
FIRST = 3  # the step that is the first one with times
EACH = {"forward": int(FORWARD * MILLISECOND), "backward": int(BACKWARD * MILLISECOND), "optimizer": int(OPTIMIZER * MILLISECOND)}


@pytest.fixture(autouse=True)
def all_steps(monkeypatch):
    """Steps of these tests are much shorter than those of a GPU: all are timed, whatever that costs. A busy machine that
    holds one up at its end does not make it one that was told late."""
    monkeypatch.setattr(_gpu_budget, "SHARE", 1e9)
    monkeypatch.setattr(_gpu_edges, "_LATE_NS", 1_000_000_000)


def told():
    """The mark of the step before the first one with times lets the agent wait."""
    steps = gpu_times(_marks._session)
    assert steps.pop(FIRST - 1, ({}, None)) == ({}, None)
    return steps


def steps_of(agent, count):
    """The agent gets so many steps; it holds those back for a while whose GPU times may still come."""
    return agent.drain_until(lambda i: len(i.steps) >= count, "steps") and len(agent.steps) == count


def said():
    return stepscope.info()["gpu_times"]


def near(nanoseconds):
    return pytest.approx(nanoseconds, abs=2)


def test_each_step_is_told_what_the_gpu_did(gpu, agent):
    training(gpu, 20)
    steps = told()  # the last step is read at the end of the next one
    assert list(steps) == list(range(FIRST, 19))
    assert all(row == (EACH, near(IDLE * MILLISECOND)) for row in steps.values()), steps
    assert steps_of(agent, 20) and said() == "on" and agent.facts()["gpu_clock"] == "on"


@pytest.mark.parametrize("behind", [1, 3])
def test_a_gpu_that_is_behind_was_never_idle(gpu, agent, behind):
    training(gpu, 20, behind)
    steps = told()
    assert list(steps) == list(range(FIRST, 19 - behind))
    assert all(row == (EACH, 0) for number, row in steps.items()), steps


def test_the_wait_after_a_step_that_was_told_late_is_not_known(gpu, agent, monkeypatch):
    monkeypatch.setattr(_gpu_edges, "_LATE_NS", 0)
    training(gpu, 20)
    rows = told()
    assert rows.pop(FIRST) == (EACH, None), "no event is at the end of the step before the first one with times"
    assert all(row == (EACH, near(IDLE * MILLISECOND)) for row in rows.values()), rows


def test_what_is_done_at_the_end_is_told(gpu, agent):
    training(gpu, 10, behind=4)
    before = told()
    gpu.catch_up()
    _gpu_times.close()
    assert list(before) == [3, 4] and list(told()) == list(range(FIRST, 10)) and gpu.made > 4


def test_what_is_not_done_at_the_end_is_not_known(gpu, agent):
    training(gpu, 10, behind=4)
    _gpu_times.close()
    assert list(told()) == list(range(FIRST, 10)) and told()[9] == ({}, None)


def test_events_are_used_again(gpu, agent):
    training(gpu, 200)
    assert len(told()) == 196 and gpu.made < 30


def test_a_gpu_that_hangs_is_waited_for_by_nobody(gpu, agent):
    def each(steps):
        if steps == 12:
            gpu.hangs_at = gpu.queued

    training(gpu, 150, each=each)
    rows = told()
    assert list(rows) == list(range(FIRST, 86)) and rows[11][1] is not None and "the GPU was too far behind" in said()
    assert all(rows[number] == ({}, None) for number in range(12, 86))


def test_what_is_pending_has_a_bound(gpu, agent):
    training(gpu, 300, behind=300)
    rows = told()
    assert len(_gpu_times._clock.pending) == 64 and gpu.made < 64 * 8
    assert set(map(str, rows.values())) == {"({}, None)"} and steps_of(agent, 300)


@pytest.mark.parametrize("call", ["record", "query", "elapsed_time"])
def test_a_fault_of_cuda_ends_it_and_is_said(gpu, agent, call):
    fault = RuntimeError("CUDA error: an illegal memory access was encountered")
    net, optimizer = training(gpu, 12, each=lambda steps: steps == 8 and gpu.fault.update({call: fault}))
    train(6, net, optimizer)
    rows = told()
    assert steps_of(agent, 18) and "illegal memory access" in said() and said().startswith("off: RuntimeError")
    assert rows[6][1] is not None and all(row == ({}, None) for number, row in rows.items() if number > 8)
    assert list(rows) == list(range(FIRST, 18)), "an agent that waits for times hears of each step"
    assert agent.facts()["gpu_clock"] == said()


def test_events_that_cannot_be_made_are_not_noticed_by_the_script(gpu, agent):
    gpu.fault["make"] = RuntimeError("out of memory")
    training(gpu, 12)
    assert steps_of(agent, 12) and said() == "off: RuntimeError: out of memory"


@pytest.mark.parametrize("took", [-3.0, float("nan"), 1e12])
def test_times_that_cannot_be_are_counted_and_not_told(gpu, agent, monkeypatch, took):
    training(gpu, 12, each=lambda steps: steps == 8 and monkeypatch.setattr(gpu.Event, "elapsed_time", lambda *_: took))
    rows = told()
    assert rows[6] == (EACH, near(IDLE * MILLISECOND)) and rows[10] == ({}, None)
    assert said().startswith("on; ") and f"an event came {took} ms after another one" in said()


@pytest.fixture(params=["streams", "their handles"])
def asked(request, gpu, monkeypatch):
    """What this version of PyTorch can be asked for."""
    if request.param == "their handles":
        monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream", lambda device: gpu.stream.cuda_stream, raising=False)


def test_a_stream_that_changes_within_a_phase_leaves_the_step_out(gpu, asked, agent):
    class Changing(Launching):
        def forward(self, x):
            gpu.stream = Stream(1 - gpu.stream.cuda_stream)
            return super().forward(x)

    net = Changing(gpu)
    train(12, net)
    gpu.catch_up()
    _gpu_times.close()
    assert set(map(str, told().values())) == {"({}, None)"} and "different streams" in said()


def test_a_phase_on_a_stream_of_its_own_is_told(gpu, asked, agent):
    """As a training does that runs on a side stream altogether."""
    gpu.stream = Stream(7)
    training(gpu, 12)
    assert told()[8] == (EACH, near(IDLE * MILLISECOND))


def test_an_evaluation_is_left_out(gpu, agent):
    def each(steps):
        if steps % 6 == 0:
            with torch.no_grad():
                for x, _ in loader(8):
                    gpu.work(100)
                    net(x)
            gpu.catch_up()

    net = Launching(gpu)
    training(gpu, 20, each=each)
    rows = told()
    assert {number: row[1] for number, row in rows.items() if row[1] is None} == {6: None, 12: None, 18: None}
    assert all(row[0] == EACH for row in rows.values()), rows


def test_a_teacher_is_part_of_its_step(gpu, agent):
    """A computation or two without gradients in each step are the training's own."""
    net, teacher = Launching(gpu), Launching(gpu)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x, y in loader(12):
        with torch.no_grad():
            teacher(x)
        step(net, optimizer, x, y)
        gpu.catch_up()
        gpu.rest(IDLE)
    rows = list(told().values())
    assert rows[3:] and all(row[0]["forward"] == 2 * EACH["forward"] for row in rows[3:]), rows
    assert all(row[1] == near(IDLE * MILLISECOND) for row in rows[3:]), rows


def test_accumulated_gradients_have_the_idle_time_before_each_pass(gpu, agent):
    net = Launching(gpu)
    optimizer = Sgd(net.parameters(), 0.01)
    optimizer.gpu = gpu
    for number, (x, y) in enumerate(loader(40)):
        nn.functional.mse_loss(net(x), y).backward()
        if number % 4 == 3:
            optimizer.step()
        gpu.rest(IDLE)
    rows = list(told().values())
    assert rows and all(row[0]["forward"] == 4 * EACH["forward"] for row in rows[1:]), rows
    assert all(row[1] == near(4 * IDLE * MILLISECOND) for row in rows[1:]), rows


def test_work_after_a_backward_pass_is_no_idle_time(gpu, agent):
    """Such as gradients that are clipped."""
    net = Launching(gpu)
    optimizer = Sgd(net.parameters(), 0.01)
    optimizer.gpu = gpu
    for x, y in loader(12):
        nn.functional.mse_loss(net(x), y).backward()
        gpu.catch_up()
        gpu.work(50)
        optimizer.step()
        gpu.rest(IDLE)
    assert told()[8] == (EACH, near(IDLE * MILLISECOND))


def test_a_graph_that_is_captured_is_left_alone(gpu, agent):
    gpu.capturing = True
    training(gpu, 12)
    assert gpu.made == 0 and gpu.asked == 0 and steps_of(agent, 12) and told() == {}


def test_a_step_in_which_a_graph_is_captured_has_no_times(gpu, agent):
    def each(steps):
        gpu.capturing = steps == 8

    training(gpu, 12, each=each)
    rows = told()
    assert rows[8] == ({}, None) and rows[10] == (EACH, near(IDLE * MILLISECOND)) and "CUDA graph" in said()


def test_nothing_is_timed_before_somebody_trains(gpu, agent):
    net = Launching(gpu)
    for x, _ in loader(20):
        net(x)
    assert gpu.made == 0 and agent.drain().started == []


def test_without_a_device_nothing_is_timed_and_said_so(gpu, agent, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    training(gpu, 12)
    assert gpu.made == 0 and told() == {} and said() == "off: no device is in use"
    agent.drain_until(lambda i: "gpu_clock" in i.facts(), "facts")
    assert agent.facts()["gpu_clock"] == "off: no device is in use"
    assert agent.facts()["device_type"] == "cpu"


def test_a_training_that_takes_a_device_later_is_timed_from_then_on(gpu, agent, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    training(gpu, 12)
    assert gpu.made == 0
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    training(gpu, 200)
    assert gpu.made > 0 and said() == "on"


@pytest.mark.parametrize("value, on", [("", True), ("1", True), ("0", False)])
def test_the_switch(gpu, agent, monkeypatch, value, on):
    monkeypatch.setenv("STEPSCOPE_GPU_TIMES", value)
    training(gpu, 12)
    assert (gpu.made > 0) is on and said() == ("on" if on else "off: STEPSCOPE_GPU_TIMES=0")


def test_a_training_whose_parameters_are_elsewhere_is_not_timed(gpu, agent, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    train(12)
    assert said() == "off: the optimizer's parameters are not on a GPU"


def test_copies_to_the_device_are_no_idle_time(gpu, agent, monkeypatch):
    take_meta_for_a_device(monkeypatch)
    net, optimizer = training(gpu, 6)
    for x, y in loader(8):
        copied = x.to("meta")
        gpu.work(2)
        assert copied.to(torch.float64) is not None
        x.to(torch.float64)
        step(net, optimizer, x, y)
        gpu.rest(IDLE)
    rows = told()
    assert "transfer" not in rows[4][0] and set(rows[9][0]) == {*EACH, "transfer"}


def test_a_closure_within_an_optimizer_is_not_counted_twice(gpu, agent):
    net = Launching(gpu)
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=1)
    for x, y in loader(8):
        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)
        gpu.rest(IDLE)
    phases, idle = told()[6]
    assert phases["forward"] == EACH["forward"] and phases["backward"] == EACH["backward"] and phases["optimizer"] == 0
    assert idle == near(IDLE * MILLISECOND)


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
    assert [row[0]["optimizer"] for row in told().values()] == [EACH["optimizer"]] * 5


def test_steps_that_the_script_ends(gpu, agent):
    net = Launching(gpu)
    optimizer = Sgd(net.parameters(), 0.01)
    optimizer.gpu = gpu
    for number, (x, y) in enumerate(loader(12)):
        step(net, optimizer, x, y)
        stepscope.step(number=100 + number)
        gpu.rest(IDLE)
    rows = told()
    assert list(rows)[-1] == 110 and rows[110] == (EACH, near(IDLE * MILLISECOND))


def test_short_steps_are_timed_in_part(gpu, agent, monkeypatch):
    monkeypatch.setattr(_gpu_budget.Budget, "spend", lambda budget, cost: cost > 0 and set_every(budget, 4))
    training(gpu, 300)
    rows = told()
    known = [number for number, row in rows.items() if row[1] is not None]
    assert said().startswith("every ") and 40 <= len(known) < 110 and list(rows) == list(range(FIRST, list(rows)[-1] + 1))
    assert all(rows[number] == (EACH, near(IDLE * MILLISECOND)) for number in known)
    assert agent.drain().facts()["gpu_clock"] == said()


def set_every(budget, every):
    before, budget.every = budget.every, every
    return before != every


def test_steps_that_are_too_short_are_not_timed(gpu, agent, monkeypatch):
    monkeypatch.setattr(_gpu_budget, "SHARE", 1e-9)
    net, optimizer = training(gpu, 40)
    made = gpu.made
    train(10, net, optimizer)
    assert said().startswith("off: the steps are too short") and gpu.made == made
    assert list(told()) == list(range(FIRST, 50))


def script(**named):
    return f"import sys; sys.path.append({str(ROOT)!r}); from tests.torch.gpus import script; script(**{named!r})"


@pytest.mark.parametrize("named", [{"steps": 40}, {"steps": 40, "behind": 5}, {"steps": 40, "behind": 5, "forks_at": 20}])
def test_a_training_does_not_notice(intake, named):
    """Also one that ends while the GPU is behind, and one that forks then."""
    bare = outcome(start("-c", script(**named), hooks=False))
    goes_on = "forks_at" not in named or "child 0" in bare[1]
    if not goes_on and torch.__version__.startswith("2."):
        pytest.skip("this PyTorch ends a child that trains on with its parent's device, without hooks")
    assert bare[0] == 0 and goes_on
    assert outcome(start("-c", script(**named), socket=intake.path)) == bare
    intake.drain_until(lambda i: i.ended, "end")
    of_the_child = 19 if "forks_at" in named else 0  # which trains on, and may be heard
    assert 40 <= len(intake.steps) <= 40 + of_the_child and intake.facts()["gpu_clock"] != "off"


def test_ten_thousand_phases_are_left_out(gpu, agent):
    net = Launching(gpu)
    optimizer = Sgd(net.parameters(), 0.01)
    optimizer.gpu = gpu
    for x, y in loader(6):
        step(net, optimizer, x, y)
        gpu.catch_up()
    for x, y in loader(3):
        for _ in range(2_000):
            net(x)
        step(net, optimizer, x, y)
        gpu.catch_up()
    assert gpu.made <= 2 * 384 + 20 and told()[7] == ({}, None) and "too many phases in a step" in said()


def test_losses_are_the_same_and_nothing_is_said_without_a_gpu(intake):
    bare = outcome(start("-c", CNN, hooks=False))
    assert outcome(start("-c", CNN, socket=intake.path)) == bare
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
    assert steps_of(agent, 12) and not flow.inside
