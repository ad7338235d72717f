"""Messages to the agent that wait until they can be sent, some with a file that goes with them."""

from __future__ import annotations

from ._descriptor import Descriptor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Optional, Tuple

    from ._connection import Connection

_MOST = 4


class Waiting:
    """At most four; the oldest goes where there are more. Owns the descriptors."""

    def __init__(self) -> None:
        self._messages: List[Tuple[bytes, Optional[Descriptor]]] = []

    def add(self, message: bytes, fd: int = -1) -> None:
        """Takes the descriptor over; -1: there is none."""
        while len(self._messages) >= _MOST:
            self._drop_first()
        self._messages.append((message, Descriptor(fd) if fd >= 0 else None))

    def send(self, connection: Connection) -> None:
        """Raises what the connection raises; what was not sent stays, unless the script has closed its file."""
        while self._messages:
            message, file = self._messages[0]
            if file is None:
                connection.send(message)
            elif file.is_ours():
                connection.send_ring(message, file.number)
            self._drop_first()

    def close(self) -> None:
        while self._messages:
            self._drop_first()

    def _drop_first(self) -> None:
        _, file = self._messages.pop(0)
        if file is not None:
            file.close()
