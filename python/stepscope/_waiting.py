"""Messages to the agent that wait until they can be sent, some with a file that goes with them."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Tuple

    from ._connection import Connection

_MOST = 4


class Waiting:
    """At most four; the oldest goes where there are more. Owns the descriptors."""

    def __init__(self) -> None:
        self._messages: List[Tuple[bytes, int]] = []

    def add(self, message: bytes, fd: int = -1) -> None:
        """Takes the descriptor over; -1: there is none."""
        while len(self._messages) >= _MOST:
            self._drop_first()
        self._messages.append((message, fd))

    def send(self, connection: Connection) -> None:
        """Raises what the connection raises; what was not sent stays."""
        while self._messages:
            message, fd = self._messages[0]
            if fd < 0:
                connection.send(message)
            else:
                connection.send_ring(message, fd)
            self._drop_first()

    def close(self) -> None:
        while self._messages:
            self._drop_first()

    def _drop_first(self) -> None:
        _, fd = self._messages.pop(0)
        if fd >= 0:
            os.close(fd)
