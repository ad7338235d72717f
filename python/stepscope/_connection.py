"""The socket to the agent. Nothing here waits: what cannot be sent or read at once raises BlockingIOError."""

from __future__ import annotations

import _socket as socket  # one that is lost runs no code of Python, which a handler of a signal could interrupt
import struct

from . import _wire
from ._calm import let_through
from ._descriptor import Descriptor

_SEND_FLAGS = getattr(socket, "MSG_NOSIGNAL", 0)


class Connection:
    """An open one; OSError where there is no agent."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._socket.setblocking(False)
            self._socket.connect(path)
        except BaseException:
            self._socket.close()
            raise
        self._descriptor = Descriptor(self._socket.fileno())

    def _own(self) -> socket.socket:
        """The socket, if the script has not closed it."""
        if not self._descriptor.is_ours():
            raise ConnectionError("the script has closed the connection to the agent")
        return self._socket

    def send(self, message: bytes) -> None:
        self._own().send(message, _SEND_FLAGS)

    def send_ring(self, message: bytes, fd: int) -> None:
        """Passes a descriptor on, which the caller has just looked at."""
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", fd))]
        self._own().sendmsg([message], passed, _SEND_FLAGS)

    def receive(self) -> bytes:
        """A message; empty when the agent has hung up."""
        try:
            return self._own().recv(_wire.MAX_MESSAGE_BYTES)
        except ConnectionResetError as problem:
            let_through(problem)
            # The reset comes once, in front of the reason for which the agent hung up.
            return self._own().recv(_wire.MAX_MESSAGE_BYTES)

    def close(self) -> None:
        """The number of a socket that the script has closed may be that of a file of the script."""
        if self._descriptor.is_ours():
            self._socket.close()
        else:
            self._socket.detach()
