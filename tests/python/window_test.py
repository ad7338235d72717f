"""A training that asks for a window: where none can be recorded it hears the reason, as does the job's page, and goes on."""

import pytest

import stepscope
from stepscope import _marks, _window

NO_HOOKS = "operators are recorded where the hooks of PyTorch are, and this process has none"


class Recorder:
    """Takes what the script asks for, in place of the hooks."""

    def __init__(self, reason=""):
        self.reason, self.asked = reason, []

    def want(self, first, steps, shapes):
        self.asked.append((first, steps, shapes))
        return self.reason

    def start(self):
        self.asked.append("start")
        return self.reason

    def stop(self):
        self.asked.append("stop")


@pytest.fixture(autouse=True)
def no_torch(monkeypatch):
    monkeypatch.setattr(_marks, "notes", {})
    monkeypatch.setattr(_window, "recorder", None)
    monkeypatch.setattr(_window, "_early", [])
    monkeypatch.delitem(_window.sys.modules, "torch", raising=False)


@pytest.fixture
def agent(intake, session_at):
    session_at(intake.path)
    return intake


def test_what_is_asked_for_before_pytorch_comes_waits_for_it(agent):
    assert stepscope.window(start_step=1000, num_steps=5, shapes=True) is True
    assert stepscope.info()["window"] == "waits for its steps"
    hooks = Recorder()
    _window.hooks_began(hooks)
    assert hooks.asked == [(1000, 5, True)]
    _window.hooks_began(hooks)
    assert len(hooks.asked) == 1


def test_a_few_may_wait_and_no_more(agent):
    assert [stepscope.window(step) for step in range(9)] == [True] * 8 + [False]
    assert "8 windows wait" in stepscope.info()["window"]


def test_with_hooks_they_decide(agent, monkeypatch):
    hooks = Recorder()
    monkeypatch.setattr(_window, "recorder", hooks)
    assert stepscope.window() is True and stepscope.start_profiling() is True
    stepscope.stop_profiling()
    assert hooks.asked == [(-1, 1, False), "start", "stop"]


def test_a_refusal_is_told_to_the_agent_once(agent, monkeypatch):
    monkeypatch.setattr(_window, "recorder", Recorder("no room"))
    for step in range(50):
        assert stepscope.window(start_step=step) is False
        stepscope.step()
    facts = [each["facts"]["window"] for each in agent.drain().started if "window" in each["facts"]]
    assert set(facts) == {"refused: no room"} == {stepscope.info()["window"]}


def test_a_torch_without_hooks_is_refused_at_once(agent, monkeypatch):
    monkeypatch.setitem(_window.sys.modules, "torch", object())
    assert stepscope.window(10) is False and stepscope.info()["window"] == f"refused: {NO_HOOKS}"
    assert stepscope.start_profiling() is False and stepscope.stop_profiling() is None


@pytest.mark.parametrize("harmful, reason", [("stacks", "segmentation fault"), ("memory", "standard error")])
def test_what_the_profiler_does_not_survive_is_refused(agent, harmful, reason):
    assert stepscope.window(10, **{harmful: True}) is False
    assert reason in stepscope.info()["window"]


class Unspeakable:
    def __str__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize("wrong", ["x", -1, 1e300, float("nan"), [], Unspeakable()])
def test_nothing_that_is_asked_for_hurts(agent, wrong):
    assert stepscope.window(start_step=wrong, num_steps=wrong) is False
    assert stepscope.info()["window"].startswith("refused")
    stepscope.step()
    stepscope.step()
    assert len(agent.drain().steps) == 1


def test_the_agent_asks_and_is_refused_at_the_end_of_the_step(agent):
    """The agent sets the control word, so nobody waits for the second in which the connection is looked at anyway."""
    stepscope.step()
    agent.drain()
    _marks._session.due = 2**62
    assert agent.ask("window") == 1 and "window" not in agent.facts()
    stepscope.step()
    assert agent.drain().facts()["window"] == f"refused: {NO_HOOKS} (by a test)"
    assert agent.ask("dance") == 1
    stepscope.step()
    assert agent.drain().facts()["dance"].startswith("refused: this version knows no commands but window")


def test_without_an_agent_it_is_refused_too(session_at):
    session_at("")
    assert stepscope.window() is False and "no agent" in stepscope.info()["window"]
    assert stepscope.start_profiling() is False
