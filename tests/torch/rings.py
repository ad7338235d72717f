"""The marks of a process, read from the memory that the agent reads too."""

import mmap
import struct

from stepscope import _wire

HEADER_BYTES, SLOT_BYTES, WRITE_BYTE = 4096, 32, 8 * 8
MICROS = 1 << 63


def marks(session):
    """(start, end, kind, name) of each mark, in the order in which they were made; no more than the rings keep."""
    names = {number: name for name, number in session.ids.items()}
    return [(start, start + length, kind, _name(kind, name, names)) for ring in session.rings for start, length, kind, name, _ in _of_ring(ring.fd)]


def gpu_times(session):
    """{number of a step: ({phase: ns}, idle ns or None)} of the steps with a mark of idle time, in the order of these
    marks. A phase has its mark before that."""
    steps, phases = {}, {}
    for ring in session.rings:
        for _, length, kind, name, flags in _of_ring(ring.fd):
            if kind == _wire.GPU_TIME_MARK:
                number = flags & _wire.STEP_MASK
                if name == _wire.GPU_IDLE:
                    assert number not in steps
                    steps[number] = (phases.pop(number, {}), None if flags & _wire.CLAMPED else length)
                else:
                    phases.setdefault(number, {})[_wire.PHASES[name]] = length
    assert not phases
    return steps


def _name(kind, name, names):
    if kind == _wire.GPU_TIME_MARK:
        return "idle" if name == _wire.GPU_IDLE else _wire.PHASES[name]
    return _wire.PHASES[name] if kind == _wire.PHASE_MARK else names.get(name, "")


def _of_ring(fd):
    """(start, length, kind, name, step and flags)"""
    with mmap.mmap(fd, 0) as memory:
        (count,) = struct.unpack_from("<Q", memory, WRITE_BYTE)
        assert HEADER_BYTES + count * SLOT_BYTES <= len(memory), "the first ones have been written over"
        for at in range(count):
            start, packed, _, flags = struct.unpack_from("<4Q", memory, HEADER_BYTES + at * SLOT_BYTES)
            length = (packed & 0xFFFFFFFF) * (1000 if flags & MICROS else 1)
            kind, name = packed >> 32 & 0xFFFF, packed >> 48
            yield start, length, kind, name, flags
