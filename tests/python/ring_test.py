"""The writer of a ring against one that is full, emptied or lies."""

import json
import mmap
import struct
from pathlib import Path

import pytest

from stepscope import _form, _memory, _wire

PHASE = _wire.PHASE_MARK << 32
SLOTS = _memory.SLOTS
GOLDEN = json.loads((Path(__file__).parents[1] / "core/wire/mark_golden.json").read_text())["slots"]


class Seen:
    """A ring, and its words as another process sees them."""

    def __init__(self, slots=SLOTS):
        self.slots = slots
        self.ring = _form.marks.Ring(_memory.sealed_memory(slots))
        self.words = memoryview(mmap.mmap(self.ring.fd, _memory.ring_bytes(slots))).cast("Q")

    def slot(self, position):
        at = (_wire.RING_HEADER_BYTES + position % self.slots * _wire.RING_SLOT_BYTES) // 8
        return list(self.words[at : at + 4])


@pytest.fixture(params=[SLOTS, _memory.SMALL_SLOTS])
def seen(form, request):
    made = Seen(request.param)
    yield made
    made.ring.close()


def test_a_mark_lies_where_the_agent_looks(seen):
    ring = seen.ring
    ring.number = 41
    ring.put(1000, 1500, PHASE | 2 << 48)
    assert seen.slot(0) == list(_wire.slot(_wire.PHASE_MARK, 2, 1000, 1500, 41))
    assert seen.words[_wire.WRITE_WORD] == 1
    assert seen.words[_wire.MAGIC_WORD].to_bytes(8, "little") == b"STEPRING"
    assert seen.words[_wire.VERSION_WORD] == _wire.RING_VERSION | seen.slots << 32


def test_slots_have_the_golden_bytes(seen):
    start, ring = 123_456_789_012, seen.ring
    ring.number = 41
    for length in (1_500_000, 5 * 10**9, 7200 * 10**9):
        ring.put(start, start + length, PHASE | 2 << 48)
    ring.start = start
    ring.end_step(start + 90_000_000)
    golden = [GOLDEN[name] for name in ("phase", "phase of 5 s", "phase of 2 h", "step")]
    assert [struct.pack("<4Q", *seen.slot(i)).hex() for i in range(4)] == golden


def test_a_value_has_the_golden_bytes_and_is_gone_with_its_slot(seen):
    start, ring = 123_456_789_012, seen.ring
    ring.number = 41
    ring.put(start, start, _wire.METRIC_MARK << 32 | 2 << 48, int.from_bytes(struct.pack("<d", 1480.5), "little"))
    assert struct.pack("<4Q", *seen.slot(0)).hex() == GOLDEN["metric"]
    seen.words[_wire.READ_WORD] = 1
    for _ in range(seen.slots):
        ring.put(start, start, PHASE)
    assert seen.slot(0)[2] == 0


def test_a_slot_after_a_loss_has_the_golden_bytes(seen):
    start, ring = 123_456_789_012, seen.ring
    ring.number = 41
    for _ in range(seen.slots + 1):
        ring.put(start, start, PHASE)
    seen.words[_wire.READ_WORD] = seen.slots
    ring.put(start, start + 1_500_000, PHASE | 2 << 48)
    assert struct.pack("<4Q", *seen.slot(seen.slots)).hex() == GOLDEN["phase after a loss"]


def test_times_that_run_backwards_last_no_time(seen):
    seen.ring.put(1000, 900, PHASE)
    assert seen.slot(0)[1] == PHASE


def test_a_closed_ring_is_refused(form):
    closed = Seen().ring
    closed.start = 1
    closed.close()
    closed.close()
    for use in (closed.dropped, lambda: closed.put(1, 2, PHASE), lambda: closed.end_step(2)):
        with pytest.raises(ValueError):
            use()


def test_what_is_no_memory_of_a_ring_is_refused(form, tmp_path):
    for size in (0, _memory.ring_bytes(32), _memory.ring_bytes(1000)):
        with open(tmp_path / "wrong", "wb+") as file:
            file.truncate(size)
            with pytest.raises((ValueError, OSError)):
                _form.marks.Ring(file.fileno())


def test_a_full_ring_keeps_the_oldest_and_counts_the_rest(seen):
    ring = seen.ring
    for i in range(seen.slots + 5):
        ring.put(i, i + 1, PHASE)
    assert ring.dropped() == 5
    assert seen.words[_wire.WRITE_WORD] == seen.slots
    assert seen.slot(0)[0] == 0


def test_the_first_mark_after_a_loss_says_so(seen):
    ring = seen.ring
    for i in range(seen.slots + 1):
        ring.put(i, i + 1, PHASE)
    seen.words[_wire.READ_WORD] = 10
    ring.put(7, 8, PHASE)
    ring.put(8, 9, PHASE)
    assert seen.slot(seen.slots)[3] == _wire.AFTER_LOSS
    assert seen.slot(seen.slots + 1)[3] == 0


def test_long_marks_are_in_microseconds(seen):
    ring = seen.ring
    ring.put(0, 5 * 10**9, PHASE)
    ring.put(0, 7200 * 10**9, PHASE)
    assert seen.slot(0) == list(_wire.slot(_wire.PHASE_MARK, 0, 0, 5 * 10**9, 0))
    assert seen.slot(1)[3] == _wire.MICROS | _wire.CLAMPED


def test_a_read_position_that_lies_does_no_harm(seen):
    ring = seen.ring
    for lie in (2**64 - 1, 2**63, 12345):
        seen.words[_wire.READ_WORD] = lie
        for i in range(2 * seen.slots):
            ring.put(i, i + 1, PHASE)
    assert seen.words[_wire.MAGIC_WORD] == _wire.RING_MAGIC


def test_steps_run_from_boundary_to_boundary(seen):
    ring = seen.ring
    ring.start = 100
    ring.end_step(300)
    ring.end_step(450)
    ring.end_step(500, 1000)
    ring.end_step(600, None)
    starts = [seen.slot(i)[0] for i in range(4)]
    assert starts == [100, 300, 450, 500]
    assert [seen.slot(i)[3] for i in range(4)] == [0, 1, 1000, 1001]


def test_a_first_call_without_a_phase_only_opens_the_first_step(seen):
    ring = seen.ring
    ring.end_step(300)
    assert seen.words[_wire.WRITE_WORD] == 0
    ring.end_step(400)
    assert seen.slot(0)[0] == 300 and seen.slot(0)[3] == 0
