"""Shared memory as words, for the form in Python. The module mmap keeps a second descriptor and closes its number at the
end, whoever has it by then; this keeps none."""

from __future__ import annotations

import ctypes
import mmap
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Objects of our own: others may give theirs, which ctypes hands out to everybody, other types of arguments.
_libc = ctypes.CDLL(None, use_errno=True)
_map, _unmap = _libc.mmap, _libc.munmap
_map.restype = ctypes.c_void_p
_map.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_unmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_view: Any = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)(
    ("PyMemoryView_FromMemory", ctypes.pythonapi)
)
_FAILED = ctypes.c_void_p(-1).value
_WRITABLE = 0x200


class Mapping:
    """The memory behind a descriptor. `words` are of no use once it is closed: a ValueError."""

    __slots__ = ("words", "_start", "_bytes")

    def __init__(self, fd: int, size: int) -> None:
        start = _map(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fd, 0)
        if start is None or start == _FAILED:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._start, self._bytes = start, size
        self.words: memoryview = _view(start, size, _WRITABLE).cast("Q")

    def close(self) -> None:
        self.words.release()
        _unmap(self._start, self._bytes)
