"""The bytes that package and agent agree on; tests/core/wire/mark_test.cpp reads the same file."""

import json
import struct
from pathlib import Path

from stepscope import _wire

GOLDEN = json.loads((Path(__file__).parents[1] / "core/wire/mark_golden.json").read_text())
START = 123_456_789_012


def slot(kind, name, duration_ns, after_loss=False):
    words = _wire.slot(kind, name, START, START + duration_ns, 41, after_loss)
    return struct.pack("<4Q", *words).hex()


def test_slots_have_the_golden_bytes():
    golden = GOLDEN["slots"]
    assert slot(_wire.PHASE_MARK, 2, 1_500_000) == golden["phase"]
    assert slot(_wire.PHASE_MARK, 2, 5 * 10**9) == golden["phase of 5 s"]
    assert slot(_wire.PHASE_MARK, 2, 7200 * 10**9) == golden["phase of 2 h"]
    assert slot(_wire.PHASE_MARK, 2, 1_500_000, True) == golden["phase after a loss"]
    assert slot(_wire.STEP_MARK, 0, 90_000_000) == golden["step"]


def test_names_of_metrics_are_those_that_the_service_takes():
    assert all(map(_wire.is_metric, ("loss", "a.b_C9", "_", ".", "x" * 58)))
    assert not any(map(_wire.is_metric, ("", "a b", "a-b", "größe", "a/b", "x" * 59, "\ud800", "a\n")))


def test_messages_have_the_golden_bytes():
    golden = GOLDEN["messages"]
    texts = ("resnet-42", "numpy 1.24.2", "3.11.2", "0.1.0")
    assert _wire.hello(4711, 3, 1, 8, texts).hex() == golden["hello"]
    assert _wire.hello(4711, 3, 1, 8, texts, "4,5").hex() == golden["hello_with_devices"]
    assert _wire.ring(7).hex() == golden["ring"]
    assert [m.hex() for m in _wire.names([(1, "augment"), (2, "läsen")])] == [golden["names"]]
    assert _wire.facts([("loader_num_workers", "0")]).hex() == golden["facts"]
    assert _wire.answer(9, True, "no").hex() == golden["answer"]
    assert _wire.bye().hex() == golden["bye"]


def test_many_names_go_in_messages_of_bounded_size():
    messages = _wire.names((i, "ä" * 200) for i in range(1, 512))
    assert all(len(message) <= _wire.MAX_MESSAGE_BYTES for message in messages)
    assert sum(struct.unpack_from("<H", message, 8)[0] for message in messages) == 511


def test_texts_are_cut_between_characters():
    assert _wire.cut("x" * 127 + "ä", 128) == b"x" * 127
    assert _wire.cut("\ud800", 128) == b"?"
