"""What the agent says to this process: that it refuses it, or what it wants of it."""

from __future__ import annotations

import struct

from . import _wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Optional

    from ._connection import Connection

_NO_WINDOWS = "operators are recorded where the hooks of PyTorch are, and this process has none"


def obey(message: bytes, connection: Connection, asked: Optional[Callable[[int, str], str]]) -> str:
    """Why the agent refuses this process, or "". `asked` takes a request for a window and returns why it is refused, or ""."""
    kind = _wire.kind_of(message)
    if kind == _wire.ANSWER:
        _, refused = struct.unpack_from("<IH", message, 8)
        return "refused: " + _wire.read_text(message, 14)[0] if refused else ""
    if kind == _wire.COMMAND:
        number, command, argument = _wire.command(message)
        reason = (asked(number, argument) if asked else _NO_WINDOWS) if command == "window" else "this version knows no commands but window"
        if reason:
            connection.send(_wire.answer(number, True, reason))
    return ""
