"""Marks of times by the GPU's clock, and who hears of the ends of steps: the same in both forms of the package."""

import mmap
import struct
import threading

import pytest

import stepscope
from stepscope import _form, _wire

FIRST = _wire.RING_HEADER_BYTES


@pytest.fixture
def session(intake, session_at):
    opened = session_at(intake.path)
    stepscope.step()
    assert opened.rings
    return opened


def slots(session, count):
    """The newest marks: start, length, kind, name, step with its flags."""
    rows = []
    with mmap.mmap(session.rings[0].fd, 0) as memory:
        (end,) = struct.unpack_from("<Q", memory, _wire.WRITE_WORD * 8)
        for at in range(end - count, end):
            start, packed, _, flags = struct.unpack_from("<4Q", memory, FIRST + at * _wire.RING_SLOT_BYTES)
            rows.append((start, packed & 0xFFFFFFFF, packed >> 32 & 0xFFFF, packed >> 48, flags))
    return rows


def test_a_time_belongs_to_the_step_that_it_names(session):
    for _ in range(3):
        stepscope.step()
    _form.marks.gpu_time(1000, 2_000_000, 4, 1)
    _form.marks.gpu_time(1000, 5 * 10**9, 2, 1)
    _form.marks.gpu_time(1000, 0, _wire.GPU_IDLE, 1)
    _form.marks.gpu_time(1000, -1, _wire.GPU_IDLE, 2)
    assert slots(session, 4) == [
        (1000, 2_000_000, 5, 4, 1),
        (1000, 5_000_000, 5, 2, 1 | _wire.MICROS),
        (1000, 0, 5, 0xFFFF, 1),
        (1000, 0, 5, 0xFFFF, 2 | _wire.CLAMPED),
    ]
    stepscope.step()
    assert slots(session, 1)[0][2:] == (_wire.STEP_MARK, 0, 3)


def test_each_step_that_ended_is_told_with_its_number_and_end(session):
    said = []
    session.at_step = lambda *step: said.append(step)
    stepscope.step()
    stepscope.step(number=41)
    stepscope.step()
    assert [number for number, _ in said] == [0, 41, 42] and said == sorted(said, key=lambda step: step[1])


def test_steps_without_times_are_said_to_be_such_and_not_told(session):
    said = []
    session.at_step = lambda number, end: said.append(number)
    session.untimed = 2
    for _ in range(3):
        stepscope.step()
    assert said == [2] and session.untimed == 0
    assert [row[1:] for row in slots(session, 5)] == [
        (row[1], _wire.STEP_MARK, 0, row[4]) if kind == "step" else (0, 5, 0xFFFF, number | _wire.CLAMPED)
        for kind, number, row in zip(("step", "idle", "step", "idle", "step"), (0, 0, 1, 1, 2), slots(session, 5))
    ]


def test_no_exception_of_who_is_told_comes_to_the_script(session):
    def fail(number, end):
        raise ValueError("ours")

    session.at_step = fail
    stepscope.step()
    session.at_step = 5
    stepscope.step()
    assert slots(session, 1)[0][2:] == (_wire.STEP_MARK, 0, 1)


def test_the_script_gets_its_own_interrupt(session):
    def interrupt(number, end):
        raise KeyboardInterrupt

    session.at_step = interrupt
    with pytest.raises(KeyboardInterrupt):
        stepscope.step()


def test_what_makes_no_sense_is_ignored(session, form):
    before = slots(session, 1)
    for wrong in ((None, 1, 2, 3), (1, "2", 3, 4)):
        _form.marks.gpu_time(*wrong)
    assert slots(session, 1) == before


def test_a_thread_without_marks_gets_none_by_it(session):
    thread = threading.Thread(target=_form.marks.gpu_time, args=(1000, 5, 2, 1))
    before = slots(session, 1)
    thread.start()
    thread.join()
    assert slots(session, 1) == before


def test_nobody_is_told_without_an_agent(session_at, tmp_path):
    session_at(tmp_path / "nobody").off = True
    assert _form.marks.gpu_time(1000, 5, 2, 1) is None
