"""The connection of this process to the agent. Nothing here waits, and nothing starts a thread.

Each mark compares one number with the clock; at most once a second one of them looks after the
connection, in microseconds. Nobody waits for the turn to do so. Rings and names need none: they
are taken by operations that the interpreter does not interrupt (next, setdefault, append, pop),
so no thread loses marks because another one was interrupted.
"""

from __future__ import annotations

import itertools
import os
from time import monotonic_ns

from . import _form, _place, _wire
from ._calm import let_through
from ._form import marks
from ._hearing import obey
from ._lease import Lease, Local, new_ring, pass_on
from ._memory import MAX_RINGS, slots_of, supported
from ._turn import Turn
from ._unconnected import why as _why_unconnected
from ._waiting import Waiting

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing, threading and socket take longer to import than all the rest
    from typing import Callable, Dict, List, Optional, Union

    from ._connection import Connection
    from ._pure import Ring

VERSION = "0.1.0"
SECOND = 1_000_000_000
_RETRY = 2 * SECOND
_REFUSED_RETRY = 60 * SECOND


class Session(marks.Gate):
    """The agent as this process knows it, and what is kept for it. A forked child makes itself a new session."""

    asked: Optional[Callable[[int, str], str]] = None  # takes a request for a window; returns why it is refused, or ""

    def __init__(self) -> None:
        self.path = _place.socket_path()
        self.off = not self.path or not supported() or bool(_form.REFUSED)
        self.seeking = not self.path and "STEPSCOPE_SOCKET" not in os.environ and supported() and not _form.REFUSED
        self.by_hand = False
        self.due = monotonic_ns() + _RETRY if self.seeking else 0
        self.ready = False
        self.local = Local()
        self.ids: Dict[str, int] = {}
        self.metrics: Dict[str, int] = {}
        self.refused = 0
        self.at_step, self.untimed, self.at_window = None, 0, None
        self.reason = "" if self.path else "no agent: STEPSCOPE_SOCKET is not set, and none serves this node"
        if self.path and self.off:
            self.reason = _form.REFUSED or "this platform has no sealed shared memory"
        self.connection: Optional[Connection] = None
        if not self.off:
            self._prepare()
        self.rings: List[Ring] = []
        self._free: List[Ring] = []
        self._tickets = itertools.count()  # one for each ring
        self._numbers = itertools.count(1)  # one for each name
        self._number = 0  # a new ring begins with the step of this number
        self._announced = 0  # so many of the rings does the agent have
        self._named = 0  # so many of the names does it know
        self._facts: Dict[str, str] = {}
        self._facts_sent = True
        self._late = False  # the agent was looked for in vain before
        self._unrecorded = 0
        self._waiting = Waiting()
        self._turn = Turn()

    def seek(self, now_ns: int) -> bool:
        """Looks for an agent of the node that came after this process, and whether there is one now."""
        if not self.off or not self._turn.take(now_ns):
            return not self.off
        try:
            self.due = now_ns + _RETRY
            self.path = _place.socket_path() if self.seeking else ""
            if self.path:
                self._prepare()
                self._late = True
                self.due, self.reason = 0, ""
                self.off = self.seeking = False
        except Exception as problem:
            let_through(problem)
            self.reason = str(problem)
        finally:
            self._turn.leave()
        return not self.off

    def _prepare(self) -> None:
        """A process without an agent does not import sockets."""
        from ._connection import Connection

        self._connect_to = Connection

    def ring(self, now_ns: int) -> Optional[Ring]:
        """The ring of the calling thread; none while there is no agent, or no room."""
        if self.local.ring is None and self.rings:
            self._lend()
        if now_ns >= self.due:
            self.tend(now_ns)
        ring: Optional[Ring] = self.local.ring
        return ring

    def tend(self, now_ns: int) -> None:
        """Finds the agent, hears it, and sends what it does not know yet. Never waits."""
        if self.off or not self._turn.take(now_ns):
            return
        try:
            self.due = now_ns + SECOND
            if self.connection is None:
                self._connect()
            else:
                self._listen(now_ns)
            self._send()
        except BlockingIOError as problem:
            let_through(problem)  # the agent is busy or stopped; the next second will do
        except Exception as problem:
            let_through(problem)
            self._part(str(problem), now_ns + _RETRY)
        finally:
            self._turn.leave()

    def name(self, named: object, now_ns: int) -> int:
        """Declares a name that is not in `ids` and returns its id; 0 when there are too many."""
        name = str(named)
        if name in self.ids:
            return self.ids[name]
        number = next(self._numbers)
        if number >= _wire.MAX_NAMES:
            return 0
        number = self.ids.setdefault(name, number)
        self.due = 0  # so the next mark sends it when the lock is taken now
        self.tend(now_ns)
        return number

    def metric(self, named: str, now_ns: int) -> int:
        """Declares a metric that is not in `metrics` and returns its id; 0 for what makes no metric, and when
        there are too many."""
        number = 0
        if _wire.is_metric(named) and len(self.metrics) < _wire.MAX_METRICS:
            number = self.name(named, now_ns)
        if number:
            self.metrics[named] = number
        else:
            self.refused += 1
        return number

    def add_facts(self, facts: Dict[str, str]) -> None:
        self._facts.update(facts)
        self._facts_sent = False
        if not self.off:
            self.due = 0

    def post(self, message: bytes, fd: int = -1) -> None:  # see Waiting.add; sends it as soon as there is an agent
        self._waiting.add(message, fd)
        self.tend(monotonic_ns())

    def info(self) -> Dict[str, Union[str, int, bool]]:
        return {
            "version": VERSION,
            "form": _form.FORM,
            "form_reason": _form.WHY,
            "enabled": not self.off,
            "connected": self.connection is not None,
            "reason": self.reason or ("" if self.connection else _why_unconnected()),
            "socket": self.path,
            "rank": _place.rank(),
            "rings": len(self.rings),
            "names": len(self.ids),
            "dropped": sum(ring.dropped() for ring in self.rings),
            "unrecorded": self._unrecorded,
            "refused_metrics": self.refused,
        }

    def bye(self) -> None:
        """Says that this process ends. Marks that come later are lost."""
        self.off, self.seeking, self.reason = True, False, "this process has said that it ends"
        if self.connection is not None:
            try:
                self._send()
                self.connection.send(_wire.bye())
            except Exception as problem:
                let_through(problem)
            self.connection.close()
            self.connection = None

    def abandon(self) -> None:
        """For a forked child: lets go of what belongs to its parent, without a word to anyone."""
        self.off, self.seeking = True, False
        for part in [self.connection, self._waiting, *self.rings]:
            try:
                if part is not None:
                    part.close()
            except Exception as problem:
                let_through(problem)
        self.connection = None
        self.rings = []
        self.local = Local()

    def _lend(self) -> None:
        """Gives the calling thread a ring: one of a thread that has ended, else a new one."""
        try:
            ring = self._free.pop(0)
            ring.start = 0
        except IndexError as problem:
            let_through(problem)
            ticket = next(self._tickets)
            if ticket >= MAX_RINGS:
                self._unrecorded += 1
                return
            ring = new_ring(slots_of(ticket))
            ring.number = self._number
            ring.fresh = not self._late
            self.rings.append(ring)
            self.ready = True
            self.due = 0  # to be announced
        self.local.ring = ring
        self.local.lease = Lease(ring, self._free)

    def _connect(self) -> None:
        connection = None
        try:
            if any(ring.fd < 0 for ring in self.rings):
                self._replace_rings()
            connection = self._connect_to(self.path)
            if not self.rings:
                self._lend()
            if not self.rings:
                raise ConnectionError("no ring is left")
            pass_on(connection, self._hello(), self.rings[0])
        except BaseException:
            if connection is not None:
                connection.close()
            self._late = True
            raise
        self.connection = connection
        self.reason = ""
        self._announced, self._named, self._facts_sent = 1, 0, not self._facts

    def _replace_rings(self) -> None:
        """The script has closed the memory of a ring: no agent can be given it any more. Steps go on where they were."""
        lost, self.rings, self._free = self.rings, [], []
        self.local, self._tickets, self._late = Local(), itertools.count(), True
        self._number = max(ring.number + (ring.start != 0) for ring in lost)
        for ring in lost:
            ring.close()

    def _hello(self) -> bytes:
        job = os.environ.get("STEPSCOPE_JOB", "")
        texts = (job, _place.framework(), _place.python(), VERSION)
        ranks = (_place.rank(), _place.local_rank(), _place.world_size())
        return _wire.hello(os.getpid(), *ranks, texts, _place.devices())

    def _send(self) -> None:
        """Sends rings, names and facts that the agent does not have. Raises when it cannot."""
        if self.connection is None:
            return
        while self._announced < len(self.rings):
            pass_on(self.connection, _wire.ring(self._announced), self.rings[self._announced])
            self._announced += 1
        if self._named < len(self.ids):
            known = list(self.ids.items())
            for message in _wire.names((number, name) for name, number in known[self._named :]):
                self.connection.send(message)
            self._named = len(known)
        if not self._facts_sent:
            self.connection.send(_wire.facts(self._facts.items()))
            self._facts_sent = True
        self._waiting.send(self.connection)

    def _listen(self, now_ns: int) -> None:
        """Takes what the agent said, at most eight messages."""
        assert self.connection is not None
        for _ in range(8):
            try:
                message = self.connection.receive()
            except BlockingIOError as problem:
                let_through(problem)
                return
            if not message:
                self._part("the agent is gone", now_ns)
                return
            refusal = obey(message, self.connection, self.asked)
            if refusal:
                self._part(refusal, now_ns + _REFUSED_RETRY)
                return

    def _part(self, reason: str, retry_ns: int) -> None:
        """Ends the connection; marks stay in the rings until the agent is found again."""
        if self.connection is not None:
            self.connection.close()
        self.connection = None
        self.reason = reason
        self.due = retry_ns
