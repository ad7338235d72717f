"""Descriptors of ours, which the script may close: who makes a daemon closes all that there are, and the next file that
the script opens gets the number. What we hold is compared with what it was before each use."""

from __future__ import annotations

import os

from ._calm import let_through

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional, Tuple

    File = Tuple[int, int, int]


def file_of(number: int) -> Optional[File]:
    """What tells the file behind a number from all others; None where there is none. Files of ours have no name, so a
    file on disk that gets the inode of one has another number of links."""
    try:
        seen = os.fstat(number)
    except OSError as problem:
        let_through(problem)
        return None
    return seen.st_dev, seen.st_ino, seen.st_nlink


class Descriptor:
    """Owns a descriptor for as long as it is ours."""

    __slots__ = ("number", "_file")

    def __init__(self, number: int) -> None:
        self.number = number
        self._file = file_of(number)

    def is_ours(self) -> bool:
        return self._file is not None and file_of(self.number) == self._file

    def close(self) -> None:
        """Forgets the descriptor; closes it if it is still ours."""
        if self.is_ours():
            os.close(self.number)
        self._file = None
