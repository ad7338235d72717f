"""A training that asks for a window is refused with a reason, here and on the job's page, and goes on."""

import pytest

import stepscope
from stepscope import _marks

REASON = "windows are not in this version"
NO_HOOKS = "operators are recorded where the hooks of PyTorch are, and this process has none"


@pytest.fixture
def agent(intake, session_at, monkeypatch):
    monkeypatch.setattr(_marks, "notes", {})
    session_at(intake.path)
    return intake


def test_a_window_is_refused_and_the_agent_hears_why(agent):
    stepscope.step()
    assert stepscope.window(start_step=1000, num_steps=5, shapes=True, stacks=False, memory=False) is False
    stepscope.step()
    said = f"refused: {REASON} (window 5 steps from step 1000)"
    assert agent.drain().facts()["window"] == said == stepscope.info()["window"]
    assert len(agent.steps) == 1


def test_profiling_by_hand_is_refused_alike(agent):
    assert stepscope.start_profiling() is False and stepscope.stop_profiling() is None
    stepscope.step()
    assert REASON in agent.drain().facts()["window"]


def test_who_asks_in_each_step_is_told_of_once(agent):
    for step in range(50):
        stepscope.window(start_step=step)
        stepscope.step()
    facts = [each["facts"]["window"] for each in agent.drain().started if "window" in each["facts"]]
    assert set(facts) == {f"refused: {REASON} (window 1 steps from step 0)"}
    assert "step 49" in stepscope.info()["window"]


class Unspeakable:
    def __str__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize("wrong", ["1000", None, -1, 1e300, [], Unspeakable()])
def test_nothing_that_is_asked_for_hurts(agent, wrong):
    assert stepscope.window(start_step=wrong, num_steps=wrong) is False
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


def test_without_an_agent_it_is_refused_too(session_at, monkeypatch):
    monkeypatch.setattr(_marks, "notes", {})
    session_at("")
    assert stepscope.window() is False and REASON in stepscope.info()["window"]
