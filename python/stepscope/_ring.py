"""The shared-memory ring through which one thread hands its marks to the agent."""

from __future__ import annotations

import fcntl
import mmap
import os
import sys
import time
from typing import Optional

from . import _wire

SLOTS = 8192  # 256 KiB; a loop of 10 steps a second with 10 marks each fills it in 80 s
_MASK = SLOTS - 1
_FIRST = _wire.RING_HEADER_BYTES // 8
_BYTES = _wire.RING_HEADER_BYTES + SLOTS * _wire.RING_SLOT_BYTES
_WRITE, _DROPPED, _READ = _wire.WRITE_WORD, _wire.DROPPED_WORD, _wire.READ_WORD

# The names exist on Linux only; the numbers are part of its interface.
_ADD_SEALS = getattr(fcntl, "F_ADD_SEALS", 1033)
_SEALS = 0x0001 | 0x0002 | 0x0004  # no more seals, no shrinking, no growing


def supported() -> bool:
    """Whether this platform has what a ring is made of."""
    return hasattr(os, "memfd_create") and sys.byteorder == "little"


class Ring:
    """One writer: the thread it was made for, or the next one when that thread has ended.

    The words are written by single stores of eight bytes, the write position last.
    """

    __slots__ = ("fd", "words", "position", "lost", "number", "start", "fresh")

    def __init__(self) -> None:
        self.fd = os.memfd_create("stepscope", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.fd, _BYTES)
            fcntl.fcntl(self.fd, _ADD_SEALS, _SEALS)
            self.words = memoryview(mmap.mmap(self.fd, _BYTES)).cast("Q")
        except BaseException:
            os.close(self.fd)
            raise
        self.words[_wire.VERSION_WORD] = _wire.RING_VERSION | SLOTS << 32
        self.words[_wire.CLOCK_WORD] = (time.time_ns() - time.monotonic_ns()) & (1 << 64) - 1
        self.words[_wire.MAGIC_WORD] = _wire.RING_MAGIC
        self.position = 0
        self.lost = False  # marks were dropped since the last one that was written
        self.number = 0  # of the step that is open
        self.start = 0  # where it began, ns; 0 while that is not known
        self.fresh = True  # nothing happened before, so the first phase begins the first step

    def put(self, start_ns: int, end_ns: int, kind_and_name: int, flags: int = 0) -> None:
        """Writes one mark, or counts it as dropped when the agent has not emptied the ring."""
        words = self.words
        position = self.position
        if position - words[_READ] >= SLOTS:
            self.lost = True
            words[_DROPPED] += 1
            return
        length = end_ns - start_ns
        if self.lost or length >> 32:
            length, flags = self._rare(length)
        at = _FIRST + ((position & _MASK) << 2)
        words[at] = start_ns
        words[at + 1] = length | kind_and_name
        # The third word, the value, stays 0 in this version.
        words[at + 3] = self.number | flags
        self.position = position = position + 1
        words[_WRITE] = position

    def _rare(self, length: int) -> tuple[int, int]:
        """Length and flags of a mark that is long, or the first one after a loss."""
        _, packed, _, flags = _wire.slot(0, 0, 0, length, 0, self.lost)
        self.lost = False
        return packed & 0xFFFFFFFF, flags

    def end_step(self, now_ns: int, number: Optional[int]) -> None:
        """Ends the open step, and begins the next one."""
        if number is not None:
            self.number = number & _wire.STEP_MASK
        if self.start:
            self.put(self.start, now_ns, _wire.STEP_MARK << 32)
            self.number = (self.number + 1) & _wire.STEP_MASK
        self.start = now_ns

    def dropped(self) -> int:
        return int(self.words[_DROPPED])

    def close(self) -> None:
        """Gives memory and descriptor back. The ring must not be used afterwards."""
        memory = self.words.obj
        self.words.release()
        memory.close()
        os.close(self.fd)
