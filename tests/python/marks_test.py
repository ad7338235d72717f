"""The public functions, through the real intake."""

import asyncio
import threading
import time
import weakref

import pytest

import stepscope
from stepscope import _marks


@pytest.fixture
def agent(intake, session_at):
    session_at(intake.path)
    return intake


def test_a_training_becomes_steps_with_phases(agent):
    for _ in stepscope.loader(range(5)):
        with stepscope.phase("forward"):
            pass
        stepscope.step()
    agent.drain()
    assert [step["step"] for step in agent.steps] == [0, 1, 2, 3, 4]
    for step in agent.steps:
        assert set(step["phases"]) == {"data", "forward"}
        assert sum(step["phases"].values()) <= step["wall_ns"]
    ends = [step["start_us"] + step["wall_ns"] // 1000 for step in agent.steps]
    assert all(abs(end - step["start_us"]) <= 1 for end, step in zip(ends, agent.steps[1:]))


def test_a_phase_can_be_recorded_with_its_times(agent):
    stepscope.step()
    now = time.monotonic_ns()
    _marks.record(now, now + 2_000_000, "transfer")
    _marks.record(now + 2_000_000, now + 5_000_000_000, "backward")
    _marks.record(now, now, ["list"])
    time.sleep(0.01)
    stepscope.step()
    (step,) = agent.drain().steps
    assert step["phases"]["transfer"] == 2_000_000
    assert sum(step["phases"].values()) == step["wall_ns"]


def test_a_step_that_stood_still_is_shorter(agent):
    _marks.end_step(time.monotonic_ns())
    time.sleep(0.03)
    _marks.skip(20_000_000)
    now = time.monotonic_ns()
    _marks.span(now - 20_000_000, now, "evaluation")
    _marks.end_step(now)
    (step,) = agent.drain().steps
    assert 10_000_000 <= step["wall_ns"] and agent.annotations == {"evaluation": 1}
    assert step["start_us"] * 1000 + step["wall_ns"] <= time.time_ns()


def test_a_script_that_ends_its_steps_itself_is_left_to_it(agent):
    for _ in range(3):
        _marks.end_step(time.monotonic_ns())
    for _ in range(5):
        _marks.end_step(time.monotonic_ns())
        stepscope.step()
        _marks.end_step(time.monotonic_ns())
        _marks.skip(10**12)
    steps = agent.drain().steps
    assert [step["step"] for step in steps] == list(range(2 + 1 + 5))
    assert all(step["wall_ns"] < 10**12 for step in steps)


def test_info_tells_what_was_noted(agent, monkeypatch):
    monkeypatch.setitem(_marks.notes, "hooks", "none")
    assert stepscope.info()["hooks"] == "none"


def test_annotations_count_as_context_decorator_and_token(agent):
    @stepscope.annotate("work")
    def work(x):
        return x + 1

    @stepscope.annotate("work")
    async def wait(x):
        return x + 2

    with stepscope.annotate("work"), stepscope.annotate("läsen"):
        assert work(1) == 2
    assert asyncio.run(wait(1)) == 3
    token = stepscope.annotation_begin("work")
    stepscope.annotation_end(token)
    assert agent.drain().annotations == {"work": 4, "läsen": 1}
    assert work.__name__ == "work"


def test_what_is_ended_twice_or_never_begun_is_ignored(agent):
    token = stepscope.annotation_begin("once")
    for end in (token, token, None, "token", stepscope.annotate("new")):
        stepscope.annotation_end(end)
    assert agent.drain().annotations == {"once": 1}


def test_exceptions_of_the_script_pass_and_are_timed(agent):
    with pytest.raises(KeyError):
        with stepscope.annotate("fails"), stepscope.phase("forward"):
            raise KeyError("x")

    def broken():
        yield 1
        raise OSError("disk")

    batches = iter(stepscope.loader(broken()))
    assert next(batches) == 1
    with pytest.raises(OSError, match="disk"):
        next(batches)
    assert agent.drain().annotations == {"fails": 1}


@pytest.mark.parametrize("name", [None, 7, ["list"], object(), "x" * 10_000, "\x00\ud800", ""])
def test_strange_names_raise_nothing(agent, name):
    with stepscope.annotate(name), stepscope.phase(name if not isinstance(name, list) else "y"):
        pass
    stepscope.step(number=-5)
    stepscope.step(number="x")
    stepscope.annotation_end(name)
    agent.drain()


def test_an_unhashable_phase_raises_nothing(agent):
    with stepscope.phase(["list"]):
        pass


def test_names_beyond_the_bound_are_other(agent):
    for i in range(600):
        with stepscope.annotate(f"name {i}"):
            pass

    def are_all_named(intake):
        _marks._session.due = 0  # the agent may have been too busy to take all names at once
        stepscope.step()
        return len(intake.annotations) == 512

    agent.drain_until(are_all_named, "names")
    assert agent.annotations["(other)"] == 600 - 511


def test_a_loader_is_what_it_wraps(agent):
    class Batches(list):
        num_workers = 4
        dataset = "images"

    wrapped = stepscope.loader(Batches([1, 2, 3]))
    assert list(wrapped) == [1, 2, 3] == list(wrapped)
    assert len(wrapped) == 3 and wrapped.dataset == "images" and wrapped
    assert list(stepscope.loader(i for i in range(2))) == [0, 1]
    with pytest.raises(AttributeError):
        wrapped.missing
    with stepscope.phase("other"):
        pass
    assert agent.drain().facts()["loader_num_workers"] == "4"


def test_a_loader_keeps_no_batch_alive(agent):
    class Batch:
        pass

    batches = iter(stepscope.loader(Batch() for _ in range(2)))
    gone = weakref.ref(next(batches))
    assert gone() is None


def test_a_step_can_go_on_after_a_checkpoint(agent):
    stepscope.step(number=999)
    stepscope.step()
    stepscope.step()
    assert [step["step"] for step in agent.drain().steps] == [999, 1000]


def test_each_thread_marks_and_gives_its_ring_to_the_next(agent):
    def work():
        for _ in range(100):
            with stepscope.annotate("work"):
                pass

    with stepscope.annotate("work"):
        pass
    for _ in range(100):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        agent.drain()
    assert agent.annotations["work"] == 10_001
    assert stepscope.info()["rings"] == 2


def test_threads_at_once_lose_nothing(agent):
    barrier = threading.Barrier(8)

    def work():
        with stepscope.annotate("work"):  # takes a ring: that of a thread which has ended may be full
            pass
        barrier.wait()
        for _ in range(999):
            with stepscope.annotate("work"):
                pass

    with stepscope.annotate("first"):
        pass
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    agent.drain()
    assert agent.annotations["work"] == 8000
    assert stepscope.info()["dropped"] == 0


def test_info_says_what_goes_on(agent, form):
    stepscope.step()
    said = stepscope.info()
    assert said["enabled"] and said["connected"] and said["form"] == form
    assert said["rank"] == 0 and said["socket"] == str(agent.path)
