"""The bytes between this process and the agent: core/wire/mark.h and mark_message.h say what they mean.

The same golden bytes are tested here and in the agent (tests/core/wire/mark_golden.json).
"""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, List, Tuple

MAGIC = 0x4B4D5353  # "SSMK"
VERSION = 1
HELLO, FACTS, NAME, COMMAND, ANSWER, BYE, RING, TRACE = 1, 2, 3, 4, 5, 6, 7, 8

MAX_MESSAGE_BYTES = 8192
MAX_TEXT_BYTES = 256
MAX_DEVICES_BYTES = 1024
MAX_NAME_BYTES = 128
MAX_NAMES = 512  # ids 1 to 511; 0 stands for every name beyond
MAX_METRICS = 64
MAX_METRIC_BYTES = 58
MAX_RANK = 1_000_000

PHASES = (
    "data",
    "transfer",
    "forward",
    "loss",
    "backward",
    "communication",
    "optimizer",
    "callback",
    "checkpoint",
    "other",
    "sync",
    "device_to_host",
)

STEP_MARK, PHASE_MARK, ANNOTATION_MARK, METRIC_MARK, GPU_TIME_MARK = 1, 2, 3, 4, 5
GPU_IDLE = 0xFFFF  # in place of a phase in a mark of GPU time: how long the GPU was idle before the step
MICROS, CLAMPED, AFTER_LOSS = 1 << 63, 1 << 62, 1 << 61
STEP_MASK = (1 << 60) - 1

RING_MAGIC = int.from_bytes(b"STEPRING", "little")
RING_VERSION = 1
RING_HEADER_BYTES = 4096
RING_SLOT_BYTES = 32
LEAST_RING_SLOTS = 64
# Words of the ring's header, counted in u64.
MAGIC_WORD, VERSION_WORD, CLOCK_WORD = 0, 1, 2
WRITE_WORD, DROPPED_WORD, READ_WORD, CONTROL_WORD = 8, 9, 16, 17


def _start(kind: int) -> bytes:
    return struct.pack("<IHH", MAGIC, VERSION, kind)


def cut(text: str, most: int = MAX_TEXT_BYTES) -> bytes:
    """The text as UTF-8 of at most this many bytes, cut between characters."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore").encode()


def _text(text: str, most: int = MAX_TEXT_BYTES) -> bytes:
    body = cut(text, most)
    return struct.pack("<H", len(body)) + body


def hello(
    pid: int,
    rank: int,
    local_rank: int,
    world_size: int,
    texts: Tuple[str, str, str, str],
    devices: str = "",
) -> bytes:
    """Texts: job, framework, version of Python, version of this library."""
    numbers = struct.pack("<Iiii", pid, rank, local_rank, world_size)
    message = _start(HELLO) + numbers + b"".join(_text(text) for text in texts)
    return message + _text(devices, MAX_DEVICES_BYTES) if devices else message


def ring(thread: int) -> bytes:
    return _start(RING) + struct.pack("<I", thread & 0xFFFFFFFF)


def names(entries: Iterable[Tuple[int, str]]) -> List[bytes]:
    """Messages that declare all these names, as few as their size allows."""
    messages: List[bytes] = []
    bodies: List[bytes] = []
    size = 0
    for number, name in entries:
        body = struct.pack("<H", number) + _text(name, MAX_NAME_BYTES)
        if bodies and size + len(body) > MAX_MESSAGE_BYTES - 16:
            messages.append(_start(NAME) + struct.pack("<H", len(bodies)) + b"".join(bodies))
            bodies, size = [], 0
        bodies.append(body)
        size += len(body)
    if bodies:
        messages.append(_start(NAME) + struct.pack("<H", len(bodies)) + b"".join(bodies))
    return messages


def is_metric(name: str) -> bool:
    """Whether "user." and this name make a custom metric."""
    letters = name.replace("_", "a").replace(".", "a")
    return len(name) <= MAX_METRIC_BYTES and letters.isascii() and letters.isalnum()


def facts(entries: Iterable[Tuple[str, str]]) -> bytes:
    bodies = [_text(key) + _text(value) for key, value in list(entries)[:32]]
    return (_start(FACTS) + struct.pack("<H", len(bodies)) + b"".join(bodies))[:MAX_MESSAGE_BYTES]


def answer(number: int, refused: bool, detail: str) -> bytes:
    return _start(ANSWER) + struct.pack("<IH", number, int(refused)) + _text(detail)


def trace(
    window: int, first: int, steps: int, costs_us: Tuple[int, int, int], note: str, by: str = "", slower_us: int = -1
) -> bytes:
    """Goes with the descriptor of a trace file: the steps it is of, how long it took to begin, to end and to write, who
    asked where it was not the service, and how much longer its steps took than others (-1: not known)."""
    costs = (min(max(cost, 0), 0xFFFFFFFF) for cost in costs_us)
    message = _start(TRACE) + struct.pack("<IqIIII", window, first, steps, *costs) + _text(note)
    return message + _text(by) + struct.pack("<q", slower_us)


def bye() -> bytes:
    return _start(BYE)


def read_text(message: bytes, at: int) -> Tuple[str, int]:
    """The text at this place and the place behind it. Raises ValueError or struct.error."""
    (length,) = struct.unpack_from("<H", message, at)
    if length > MAX_TEXT_BYTES or at + 2 + length > len(message):
        raise ValueError("text out of bounds")
    return message[at + 2 : at + 2 + length].decode("utf-8", "replace"), at + 2 + length


def command(message: bytes) -> Tuple[int, str, str]:
    """Number, name and argument of a command. Raises ValueError or struct.error."""
    (number,) = struct.unpack_from("<I", message, 8)
    name, at = read_text(message, 12)
    return number, name, read_text(message, at)[0]


def kind_of(message: bytes) -> int:
    """The kind of a message of our version. Raises ValueError or struct.error for any other."""
    magic, version, kind = struct.unpack_from("<IHH", message)
    if magic != MAGIC or version != VERSION:
        raise ValueError("not a message of this version")
    return int(kind)


def slot(
    kind: int, name: int, start_ns: int, end_ns: int, step: int, after_loss: bool = False
) -> Tuple[int, int, int, int]:
    """The four words of a mark, in the shortest unit that holds its duration."""
    length = max(end_ns - start_ns, 0)
    flags = AFTER_LOSS if after_loss else 0
    if length >> 32:
        length //= 1000
        flags |= MICROS
        if length >> 32:
            length = 0xFFFFFFFF
            flags |= CLAMPED
    return start_ns, length | kind << 32 | name << 48, 0, (step & STEP_MASK) | flags
