"""Custom metrics that a script sets, from the call to what the agent takes at its tick."""

import math

import pytest

import stepscope
from tests.python.intake import finish, training


@pytest.fixture
def agent(intake, session_at):
    session_at(intake.path)
    return intake


class Number:
    """A number as the scalars of numpy and torch are."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value


class Index:
    def __index__(self):
        return 7


class Broken:
    def __float__(self):
        raise OSError("no")

    __str__ = __float__


def refused():
    return stepscope.info()["refused_metrics"]


def test_the_newest_value_of_each_name_is_taken(agent):
    for value in range(5):
        stepscope.metric("samples_per_second", 1480 + value)
        stepscope.metric(name="loss", value=Number(0.5))
    agent.drain()
    assert agent.metrics == [(0, "user.loss", 0.5), (0, "user.samples_per_second", 1484)]
    agent.drain()
    assert len(agent.metrics) == 2
    stepscope.metric("loss", value=-1e-300)
    assert agent.drain().metrics[2:] == [(0, "user.loss", -1e-300)] and refused() == 0


def test_all_that_is_a_number_is_a_value(agent):
    for value, name in ((True, "bool"), (Index(), "index"), (Number(2.0), "number"), (2**60, "large")):
        stepscope.metric(name, value)
    said = {metric: value for _, metric, value in agent.drain().metrics}
    assert said == {"user.bool": 1, "user.index": 7, "user.number": 2, "user.large": 2.0**60}


@pytest.mark.parametrize("value", ["1", None, math.nan, math.inf, -math.inf, 10**400, Broken(), [1], 1j, Number("x")])
def test_what_is_no_finite_number_is_no_sample(agent, value):
    stepscope.metric("loss", 1)
    stepscope.metric("loss", value)
    assert agent.drain().metrics == [(0, "user.loss", 1)] and refused() == 1


@pytest.mark.parametrize("name", ["", "a b", "größe", "x" * 59, "a/b", ["list"], Broken()])
def test_what_makes_no_name_is_refused(agent, name):
    stepscope.metric(name, 1)
    stepscope.metric("loss", 1)
    assert agent.drain().metrics == [(0, "user.loss", 1)] and refused() == 1
    assert stepscope.info()["names"] == 1


def test_a_process_has_sixty_four(agent):
    for round in range(2):
        for i in range(70):
            stepscope.metric(f"m{i:02}", round)
    said = agent.drain().metrics
    assert [metric for _, metric, _ in said] == [f"user.m{i:02}" for i in range(64)]
    assert {value for _, _, value in said} == {1} and refused() == 12


def test_a_name_may_be_that_of_an_annotation(agent):
    with stepscope.annotate("loss"), stepscope.annotate("two words"):
        stepscope.metric("loss", 1)
        stepscope.metric("two words", 1)
    assert agent.drain().metrics == [(0, "user.loss", 1)]
    assert agent.annotations == {"loss": 1, "two words": 1}


def test_it_neither_begins_nor_ends_a_step(agent):
    for i in range(4):
        stepscope.metric("loss", i)
        stepscope.step()
    assert [step["step"] for step in agent.drain().steps] == [0, 1, 2] and agent.metrics == [(0, "user.loss", 3)]


def test_nobody_is_asked_for_a_value_where_nobody_records(session_at):
    session_at("")
    stepscope.metric("loss", Broken())
    assert refused() == 0


def test_what_a_value_raises_that_is_the_scripts_own_comes_through(agent):
    class Interrupted:
        def __float__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stepscope.metric("loss", Interrupted())


def test_a_short_process_loses_none(intake):
    code = "import stepscope\nfor i in range(100): stepscope.metric('loss', i)"
    assert finish(training(code, intake.path, RANK="5")) == ""
    intake.drain_until(lambda i: i.ended, "end")
    assert intake.metrics[-1] == (5, "user.loss", 99)


def test_metrics_hold_no_memory(agent):
    import sys

    def mark():
        for i in range(2000):
            stepscope.metric(f"m{i % 90}", i)
            stepscope.metric("m1", math.nan)
            stepscope.metric("m1", Number(1.5))

    mark()
    before = sys.getallocatedblocks()
    mark()
    assert sys.getallocatedblocks() - before < 200
