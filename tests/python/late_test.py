"""An agent of the node that starts after the training, which looks for it every two seconds at most."""

import sys
import time

import pytest

import stepscope
from stepscope import _marks, _place
from tests.python.alone import place, session_alone  # noqa: F401
from tests.python.intake import Intake, finish, training


@pytest.fixture
def alone(place, form, monkeypatch):
    with session_alone(place, monkeypatch) as session:
        yield session


@pytest.fixture
def looks(monkeypatch):
    """Every look for an agent."""
    seen, look = [], _place.socket_path
    monkeypatch.setattr(_place, "socket_path", lambda: (seen.append(1), look())[1])
    return seen


NEVER = 2**62


def mark(times):
    for _ in range(times):
        with stepscope.annotate("work"), stepscope.phase("forward"):
            pass
        stepscope.metric("speed", 1.0)
        stepscope.step()


TRAINING = """
import stepscope, sys, time
@stepscope.annotate("decorated")
def work():
    pass
def mark(steps):
    for _ in stepscope.loader(range(steps)):
        with stepscope.annotate("work"):
            work()
        stepscope.step()
mark(10)
print("_socket" in sys.modules, stepscope.info()["enabled"], flush=True)
give_up = time.monotonic() + 100  # where the test fails before there is an agent
while not stepscope.info()["connected"] and time.monotonic() < give_up:
    mark(10)
mark(100)
print(stepscope.info()["dropped"], repr(stepscope.info()["reason"]))
"""
WHOLE = 99  # so many of the last 100 steps are told: the agent may be found within the first one, which is then left out


def test_a_training_is_found_by_an_agent_that_starts_after_it(place):
    process = training(TRAINING, None, XDG_RUNTIME_DIR=str(place.parent.parent))
    assert process.stdout.readline() == "False False\n"
    with Intake(place) as agent:
        assert finish(process) == "0 ''\n"
        agent.drain_until(lambda i: i.ended, "end")
        assert len(agent.steps) >= WHOLE and agent.annotations["work"] >= len(agent.steps)
        assert agent.annotations["decorated"] >= len(agent.steps)
        assert all("data" in step["phases"] for step in agent.steps)
        assert [step["step"] for step in agent.steps] == list(range(len(agent.steps)))


def test_an_agent_that_was_there_before_and_is_not_now(place):
    """The agent was killed before the training began: its socket is still there."""
    Intake(place).start().kill()
    process = training(TRAINING, None, XDG_RUNTIME_DIR=str(place.parent.parent))
    assert process.stdout.readline() == "True True\n"
    place.unlink()
    with Intake(place) as agent:
        finish(process)
        agent.drain_until(lambda i: len(i.steps) >= WHOLE, "steps")


def mark_annotation():
    with stepscope.annotate("work"):
        pass


def mark_phase():
    with stepscope.phase("forward"):
        pass


@pytest.mark.parametrize("mark_one", [lambda: stepscope.step(), lambda: stepscope.metric("speed", 1.0), mark_annotation, mark_phase])
def test_each_kind_of_mark_finds_it(alone, place, mark_one):
    with Intake(place):
        alone.due = 0
        for _ in range(100):  # some of them look at the clock only now and then
            mark_one()
        assert stepscope.info()["connected"] and stepscope.info()["socket"] == str(place)


@pytest.mark.parametrize("kind", ["annotate", "phase"])
def test_a_decorated_function_finds_it(alone, place, kind):
    work = getattr(stepscope, kind)("forward")(lambda: 7)
    with Intake(place):
        alone.due = 0
        assert all(work() == 7 for _ in range(100))
        assert stepscope.info()["connected"]


@pytest.mark.parametrize("kind", ["annotate", "phase"])
def test_one_object_that_is_used_again_finds_it(alone, place, kind):
    again = getattr(stepscope, kind)("forward")
    with Intake(place):
        alone.due = 0
        for _ in range(100):
            with again:
                pass
        assert stepscope.info()["connected"]


def test_what_began_with_another_agent_is_not_told_to_the_next(place, alone, monkeypatch):
    """A child has such a span when its process forked within it."""
    again = stepscope.annotate("again")
    with Intake(place) as agent:
        alone.due = 0
        stepscope.step()
        again.__enter__()
        with session_alone(place, monkeypatch) as child:
            child.off = child.seeking = True  # it has not looked yet
            child.due = NEVER
            again.__enter__()
            child.due = 0
            stepscope.step()
            assert stepscope.info()["connected"]
            again.__exit__(None, None, None)
            assert agent.drain().annotations == {}


def test_it_is_looked_for_rarely(alone, looks):
    alone.due = NEVER
    mark(1000)
    assert looks == [] and not alone.ready
    for seen in range(1, 4):
        alone.due = 0
        mark(100)
        alone.due = NEVER  # two seconds may pass on a busy machine
        mark(900)
        assert len(looks) == seen
    assert alone.rings == [] and stepscope.info()["names"] == 0


def test_who_named_a_socket_has_no_other_agent(place, alone, looks, monkeypatch, session_at):
    session = session_at("")
    with Intake(place) as agent:
        session.due = 0
        mark(200)
        assert looks == [1] and not stepscope.info()["enabled"] and agent.drain().started == []


def test_a_folder_that_others_can_write_to_is_not_trusted_later_either(alone, place):
    with Intake(place) as agent:
        place.parent.chmod(0o722)
        alone.due = 0
        mark(200)
        assert not stepscope.info()["enabled"] and agent.drain().started == []
        place.parent.chmod(0o700)
        alone.due = 0
        mark(200)
        assert len(agent.drain().steps) > 100


def test_facts_that_were_told_before_are_not_lost(alone, place):
    class Loader(list):
        num_workers, batch_size = 3, 16

    stepscope.loader(Loader())
    with Intake(place) as agent:
        alone.due = 0
        mark(3)
        facts = agent.drain_until(lambda i: i.started, "start").facts()
        assert (facts["loader_num_workers"], facts["loader_batch_size"]) == ("3", "16")


def test_what_a_look_meets_is_nobodys_trouble(alone, monkeypatch):
    def fail():
        raise OSError("no such node")

    monkeypatch.setattr(_place, "socket_path", fail)
    alone.due = 0
    mark(200)
    assert stepscope.info()["reason"] == "no such node" and not stepscope.info()["enabled"]


def test_a_ctrl_c_during_a_look_is_the_scripts_own(alone, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(_place, "socket_path", interrupt)
    for mark_one in (stepscope.step, lambda: mark(200)):
        alone.due = 0
        with pytest.raises(KeyboardInterrupt):
            mark_one()


def test_a_forked_child_looks_for_itself(place):
    code = """
import os, stepscope, time
stepscope.step()
print("alone", flush=True)
input()
child = os.fork()
give_up = time.monotonic() + 100
while not stepscope.info()["connected"] and time.monotonic() < give_up:
    stepscope.step()
with stepscope.annotate("parent" if child else "child"):
    pass
if child:
    os.waitpid(child, 0)
"""
    process = training(code, None, XDG_RUNTIME_DIR=str(place.parent.parent))
    assert process.stdout.readline() == "alone\n"
    with Intake(place) as agent:
        process.stdin.write("\n")
        process.stdin.flush()
        finish(process)
        agent.drain_until(lambda i: len(i.ended) == 2 or i.annotations == {"parent": 1, "child": 1}, "both")
        assert agent.annotations == {"parent": 1, "child": 1}


@pytest.mark.parametrize("times", [("x", 3), (None, None), (1.5, 2.5), (3, -5)])
def test_times_that_make_no_sense_raise_nothing(alone, times):
    alone.due = 0
    _marks.record(*times, "forward")
    _marks.span(*times, "name")
    _marks.end_step(times[1])


def test_its_end_is_no_beginning(alone, place):
    alone.bye()
    with Intake(place) as agent:
        mark(200)
        assert not stepscope.info()["enabled"] and agent.drain().started == []


def test_a_mark_that_finds_nobody_keeps_nothing(alone):
    mark(500)
    before = sys.getallocatedblocks()
    for _ in range(5):
        alone.due = 0
        mark(500)
    assert sys.getallocatedblocks() - before < 50


def test_what_was_before_the_first_whole_step_is_not_in_it(alone, place):
    with Intake(place) as agent:
        _marks.record(1, 2, "forward")
        alone.due = 0
        for start in (100, 200, 300):
            _marks.record(start + 10, start + 40, "forward")
            _marks.end_step(start + 100)
        steps = [(row["wall_ns"], row["phases"]) for row in agent.drain().steps]
        assert steps == [(100, {"forward": 30})] * 2


def test_a_script_that_ended_its_steps_itself_goes_on_with_that(alone, place):
    """A step of PyTorch's optimizer is then no step, not even if it is the first that finds the agent."""
    stepscope.step()
    with Intake(place) as agent:
        alone.due = 0
        for _ in range(4):
            _marks.end_step(time.monotonic_ns())
            stepscope.step()
        assert len(agent.drain().steps) == 3
