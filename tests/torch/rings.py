"""The marks of a process, read from the memory that the agent reads too."""

import mmap
import struct

from stepscope import _wire

HEADER_BYTES, SLOT_BYTES, WRITE_BYTE = 4096, 32, 8 * 8
MICROS = 1 << 63


def marks(session):
    """(start, end, kind, name) of each mark, in the order in which they were made; no more than the rings keep."""
    names = {number: name for name, number in session.ids.items()}
    return [row for ring in session.rings for row in _of_ring(ring.fd, names)]


def _of_ring(fd, names):
    with mmap.mmap(fd, 0) as memory:
        (count,) = struct.unpack_from("<Q", memory, WRITE_BYTE)
        assert HEADER_BYTES + count * SLOT_BYTES <= len(memory), "the first ones have been written over"
        for at in range(count):
            start, packed, _, flags = struct.unpack_from("<4Q", memory, HEADER_BYTES + at * SLOT_BYTES)
            length = (packed & 0xFFFFFFFF) * (1000 if flags & MICROS else 1)
            kind, name = packed >> 32 & 0xFFFF, packed >> 48
            yield start, start + length, kind, _wire.PHASES[name] if kind == _wire.PHASE_MARK else names.get(name, "")
