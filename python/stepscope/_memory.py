"""The memory of a ring, for both forms: a file without a name that nobody can make smaller."""

from __future__ import annotations

import fcntl
import os
import sys

from . import _wire

# A process has 64 rings at most. All of them together are to stay below 3 MiB, so threads that come later have smaller ones.
MAX_RINGS = 64
SLOTS = 8192  # 256 KiB; a loop of 10 steps a second with 10 marks each fills it in 80 s
MIDDLE_SLOTS, MIDDLE_RINGS = 4096, 3
SMALL_SLOTS = 1024


def slots_of(ring: int) -> int:
    """How many marks the ring of this number holds; the first one has number 0."""
    if ring == 0:
        return SLOTS
    return MIDDLE_SLOTS if ring <= MIDDLE_RINGS else SMALL_SLOTS


def ring_bytes(slots: int) -> int:
    return _wire.RING_HEADER_BYTES + slots * _wire.RING_SLOT_BYTES


# The names exist on Linux only; the numbers are part of its interface.
_ADD_SEALS = getattr(fcntl, "F_ADD_SEALS", 1033)
_SEALS = 0x0001 | 0x0002 | 0x0004  # no more seals, no shrinking, no growing


def supported() -> bool:
    """Whether this platform has what a ring is made of."""
    return hasattr(os, "memfd_create") and sys.byteorder == "little"


def sealed_memory(slots: int = SLOTS) -> int:
    """A descriptor of zeroes for a ring of so many slots, to be passed on and mapped."""
    fd = os.memfd_create("stepscope", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(fd, ring_bytes(slots))
        fcntl.fcntl(fd, _ADD_SEALS, _SEALS)
    except BaseException:
        os.close(fd)
        raise
    return fd
