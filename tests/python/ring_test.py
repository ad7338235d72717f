"""One writer against a full, an emptied and a lying ring."""

import pytest

from stepscope import _wire
from stepscope._ring import SLOTS, Ring

PHASE = _wire.PHASE_MARK << 32


@pytest.fixture
def ring():
    made = Ring()
    yield made
    made.close()


def slot(ring, position):
    at = (_wire.RING_HEADER_BYTES + position % SLOTS * _wire.RING_SLOT_BYTES) // 8
    return list(ring.words[at : at + 4])


def test_a_mark_lies_where_the_agent_looks(ring):
    ring.number = 41
    ring.put(1000, 1500, PHASE | 2 << 48)
    assert slot(ring, 0) == list(_wire.slot(_wire.PHASE_MARK, 2, 1000, 1500, 41))
    assert ring.words[_wire.WRITE_WORD] == 1
    assert ring.words[_wire.MAGIC_WORD].to_bytes(8, "little") == b"STEPRING"


def test_a_full_ring_keeps_the_oldest_and_counts_the_rest(ring):
    for i in range(SLOTS + 5):
        ring.put(i, i + 1, PHASE)
    assert ring.dropped() == 5
    assert ring.words[_wire.WRITE_WORD] == SLOTS
    assert slot(ring, 0)[0] == 0


def test_the_first_mark_after_a_loss_says_so(ring):
    for i in range(SLOTS + 1):
        ring.put(i, i + 1, PHASE)
    ring.words[_wire.READ_WORD] = 10
    ring.put(7, 8, PHASE)
    ring.put(8, 9, PHASE)
    assert slot(ring, SLOTS)[3] == _wire.AFTER_LOSS
    assert slot(ring, SLOTS + 1)[3] == 0


def test_long_marks_are_in_microseconds(ring):
    ring.put(0, 5 * 10**9, PHASE)
    ring.put(0, 7200 * 10**9, PHASE)
    assert slot(ring, 0) == list(_wire.slot(_wire.PHASE_MARK, 0, 0, 5 * 10**9, 0))
    assert slot(ring, 1)[3] == _wire.MICROS | _wire.CLAMPED


def test_a_read_position_that_lies_does_no_harm(ring):
    for lie in (2**64 - 1, 2**63, 12345):
        ring.words[_wire.READ_WORD] = lie
        for i in range(2 * SLOTS):
            ring.put(i, i + 1, PHASE)
    assert ring.words[_wire.MAGIC_WORD] == _wire.RING_MAGIC


def test_steps_run_from_boundary_to_boundary(ring):
    ring.start = 100
    ring.end_step(300, None)
    ring.end_step(450, None)
    ring.end_step(500, 1000)
    ring.end_step(600, None)
    starts = [slot(ring, i)[0] for i in range(4)]
    assert starts == [100, 300, 450, 500]
    assert [slot(ring, i)[3] for i in range(4)] == [0, 1, 1000, 1001]


def test_a_first_call_without_a_phase_only_opens_the_first_step(ring):
    ring.end_step(300, None)
    assert ring.words[_wire.WRITE_WORD] == 0
    ring.end_step(400, None)
    assert slot(ring, 0)[0] == 300 and slot(ring, 0)[3] == 0
