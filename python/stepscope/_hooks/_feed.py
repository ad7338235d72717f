"""Whether the batches of the training come through a loader that is seen.

A prefetcher reads the loader in a thread of its own, and the training waits at its queue: then no wait is seen, which
is not to say that there is none. A loader of the script's own is not seen at all. Both are told as facts of the rank,
so that nobody takes a wait of zero for a fast loader:

    loader_thread=another    loaders give batches in other threads, and none in the one that trains
    loader=none seen         no loader gives batches anywhere

What the training waits for at a queue is not measured: a queue does not say what it is for.
"""

from __future__ import annotations

from typing import Any, Dict

from .. import _marks
from .._calm import let_through

LOOK = 16  # steps from one look at this to the next
_MOST_UNFED = 48  # steps without any loader


class Feed:
    """What the flow knows of where batches come from. In the C extension its fields are those of the flow's base."""

    proven: bool
    _fail: Any

    def forget_feed(self) -> None:
        self.unfed = 0  # steps since a loader gave the training thread a batch to train on
        self.elsewhere = 0  # batches that loaders gave to other threads meanwhile
        self.hungry = False  # that was told
        self.feed: Dict[str, str] = {}  # the facts that were told

    def look_at_feed(self) -> None:
        """Each so many steps without a batch from a loader."""
        if _marks._session.by_hand or not self.proven:
            return
        if self.elsewhere:
            self._tell("loader_thread", "another")
        elif self.unfed >= _MOST_UNFED:
            self._tell("loader", "none seen")
        self.hungry = bool(self.feed)

    def fed(self) -> None:
        """A loader gives batches after all."""
        try:
            self.hungry = False
            for name, seen in (("loader_thread", "training"), ("loader", "seen")):
                if name in self.feed:
                    self._tell(name, seen)
        except Exception as problem:
            let_through(problem)
            self._fail(problem)

    def _tell(self, name: str, value: str) -> None:
        if self.feed.get(name) != value:
            self.feed[name] = value
            _marks.add_facts({name: value})
