"""The shared-memory ring through which one thread hands its marks to the agent."""

from __future__ import annotations

import os
import time

from . import _wire
from ._descriptor import Descriptor
from ._memory import ring_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional, Tuple

_FIRST = _wire.RING_HEADER_BYTES // 8
_WRITE, _DROPPED, _READ = _wire.WRITE_WORD, _wire.DROPPED_WORD, _wire.READ_WORD


class Ring:
    """A ring of marks with one writer: the thread it was made for, or the next one when that thread has ended.

    The words are written by single stores of eight bytes, the write position last.
    """

    __slots__ = ("_descriptor", "_memory", "words", "slots", "mask", "position", "lost", "number", "start", "fresh", "heard")

    def __init__(self, fd: int) -> None:
        """Takes the descriptor over. The ring has as many slots as the memory holds: a power of two."""
        slots = (os.fstat(fd).st_size - _wire.RING_HEADER_BYTES) // _wire.RING_SLOT_BYTES
        if slots < _wire.LEAST_RING_SLOTS or slots & slots - 1:
            raise ValueError("the memory is not that of a ring")
        from ._mapping import Mapping  # what it needs takes longer to import than all of this package

        self.slots = slots
        self.mask = slots - 1
        self._memory: Optional[Mapping] = Mapping(fd, ring_bytes(slots))
        self._descriptor = Descriptor(fd)
        self.words = self._memory.words
        self.words[_wire.VERSION_WORD] = _wire.RING_VERSION | slots << 32
        self.say_clock()
        self.words[_wire.MAGIC_WORD] = _wire.RING_MAGIC
        self.position = 0
        self.lost = False  # marks were dropped since the last one that was written
        self.number = 0  # the open step has it
        self.start = 0  # where it began, ns; 0 while that is not known
        self.heard = 0  # the control word when it was read last
        self.fresh = True  # nothing happened before, so the first phase begins the first step

    @property
    def fd(self) -> int:
        """The descriptor of the memory; -1 where the ring or the script has closed it."""
        return self._descriptor.number if self._descriptor.is_ours() else -1

    def say_clock(self) -> None:
        """Tells how far the wall clock is ahead of that of the marks."""
        self.words[_wire.CLOCK_WORD] = (time.time_ns() - time.monotonic_ns()) & (1 << 64) - 1

    def put(self, start_ns: int, end_ns: int, kind_and_name: int, value: int = 0) -> None:
        """Writes one mark, or counts it as dropped when the agent has not emptied the ring."""
        words = self.words
        position = self.position
        if position - words[_READ] >= self.slots:
            self.lost = True
            words[_DROPPED] += 1
            return
        length = end_ns - start_ns
        flags = 0
        if self.lost or length >> 32:
            length, flags = self._rare(length)
        at = _FIRST + ((position & self.mask) << 2)
        words[at] = start_ns
        words[at + 1] = length | kind_and_name
        words[at + 2] = value
        words[at + 3] = self.number | flags
        self.position = position = position + 1
        words[_WRITE] = position

    def _rare(self, length: int) -> Tuple[int, int]:
        """Length and flags of a mark that is long, or the first one after a loss."""
        _, packed, _, flags = _wire.slot(0, 0, 0, length, 0, self.lost)
        self.lost = False
        return packed & 0xFFFFFFFF, flags

    def put_gpu_time(self, start_ns: int, length_ns: int, name: int, number: int) -> None:
        """Puts a time by the GPU's clock of the step with this number; a negative length is not known."""
        open_step, self.number = self.number, number & _wire.STEP_MASK | (_wire.CLAMPED if length_ns < 0 else 0)
        try:
            self.put(start_ns, start_ns + max(length_ns, 0), _wire.GPU_TIME_MARK << 32 | name << 48)
        finally:
            self.number = open_step

    def end_step(self, now_ns: int, number: Optional[int] = None) -> bool:
        """Ends the open step, and begins the next one. False when no step was open."""
        was_open = bool(self.start)
        if number is not None:
            self.number = number & _wire.STEP_MASK
        if was_open:
            self.put(self.start, now_ns, _wire.STEP_MARK << 32)
            self.number = (self.number + 1) & _wire.STEP_MASK
        self.start = now_ns
        return was_open

    def was_called(self) -> bool:
        """Whether the agent has changed the control word since this was asked before."""
        word = self.words[_wire.CONTROL_WORD]
        called = word != self.heard
        self.heard = word
        return called

    def dropped(self) -> int:
        return int(self.words[_DROPPED])

    def close(self) -> None:
        """Gives memory and descriptor back. Whoever uses the ring afterwards gets a ValueError."""
        memory, self._memory = self._memory, None
        if memory is not None:
            memory.close()
            self._descriptor.close()
