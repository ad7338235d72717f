"""The states that the hot path in Python (_pure.py) looks at. The C extension has types of the same names."""

from __future__ import annotations

from ._ring import Ring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Optional


class Gate:
    """The state that each mark looks at before it is written. The Session of _session.py is the one in use."""

    off = True  # nobody records
    seeking = False  # but an agent may come: it is looked for when that is due
    due = 0  # ns of the monotonic clock, when the connection is looked at again
    by_hand = False  # the script ends its steps itself
    ready = False  # there are rings, so a thread without one asks for it
    ids: Dict[str, int]  # the numbers of annotations, by name
    metrics: Dict[str, int]  # the numbers of metrics, by name
    refused = 0  # so many metrics had no valid name or value
    at_step: Optional[Callable[[int, int], None]] = None  # called with number and end (ns) of each step that ended
    at_window: Optional[Callable[[int], None]] = None  # called with the number of each step that ended, while a window waits or runs
    untimed = 0  # so many steps from now on have no GPU times and are not told to at_step
    local: Any  # its `ring` is the calling thread's

    def seek(self, now_ns: int) -> bool:
        return False

    def ring(self, now_ns: int) -> Optional[Ring]:
        return None

    def name(self, named: str, now_ns: int) -> int:
        return 0

    def metric(self, named: str, now_ns: int) -> int:
        return 0


class Flow:
    """The base of the Flow in _hooks/_flow.py. The C extension has one that writes a training's usual steps by itself."""

    held: Any
    dormant = False  # there is no agent, and a step is where one is looked for
    edge: Optional[Callable[[Optional[str], bool], bool]] = None  # the GPU's clock, told of the edges of calls

    def quick(self, start_ns: int, end_ns: int, phase: str) -> bool:
        """Whether a phase that is both a training's and an evaluation's could be told without further thought."""
        return False
