"""The socket to the agent. Nothing here waits: what cannot be sent or read at once raises BlockingIOError."""

from __future__ import annotations

import socket
import struct

from . import _wire

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

    def send(self, message: bytes) -> None:
        self._socket.send(message, _SEND_FLAGS)

    def send_ring(self, message: bytes, fd: int) -> None:
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", fd))]
        self._socket.sendmsg([message], passed, _SEND_FLAGS)

    def receive(self) -> bytes:
        """A message; empty when the agent has hung up."""
        try:
            return self._socket.recv(_wire.MAX_MESSAGE_BYTES)
        except ConnectionResetError:
            # The reset comes once, in front of the reason for which the agent hung up.
            return self._socket.recv(_wire.MAX_MESSAGE_BYTES)

    def close(self) -> None:
        self._socket.close()
