"""The memory of a ring, for both forms: a file without a name that nobody can make smaller."""

from __future__ import annotations

import fcntl
import os
import sys

from . import _wire

SLOTS = 8192  # 256 KiB; a loop of 10 steps a second with 10 marks each fills it in 80 s
RING_BYTES = _wire.RING_HEADER_BYTES + SLOTS * _wire.RING_SLOT_BYTES

# The names exist on Linux only; the numbers are part of its interface.
_ADD_SEALS = getattr(fcntl, "F_ADD_SEALS", 1033)
_SEALS = 0x0001 | 0x0002 | 0x0004  # no more seals, no shrinking, no growing


def supported() -> bool:
    """Whether this platform has what a ring is made of."""
    return hasattr(os, "memfd_create") and sys.byteorder == "little"


def sealed_memory() -> int:
    """A descriptor of so many bytes of zeroes, to be passed on and mapped."""
    fd = os.memfd_create("stepscope", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(fd, RING_BYTES)
        fcntl.fcntl(fd, _ADD_SEALS, _SEALS)
    except BaseException:
        os.close(fd)
        raise
    return fd
