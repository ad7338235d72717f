"""Pushes numbered frames as an agent would, and remembers what was acknowledged."""

import os
import threading
import time

from tests.support import wire
from tests.support.service import wait_for

COLUMNS = [("at_us", ""), ("node_cpu_percent", ""), ("memory_used_bytes", "")]
SCALES = [0, 2, 0]
INTERVAL_US = 500_000
LIFECYCLE, TICK, REJECTED, LOST = "lifecycle", "tick", "rejected", "lost"  # the meanings of a frame's number
LOST_AT_ONCE = 3
OURS = b"pusher"  # the sessions of pushers begin with it


def value_of(number: int) -> int:
    """A value that only this number has: a sample that was changed or mixed up shows."""
    return number * 2_654_435_761 % (1 << 40)


class Pusher(threading.Thread):
    """Frames 1, 2, 3, ... of one session. Frame 1 starts the job; the others hold one tick, but for some that nobody can read, which
    are rejected, and some that report numbers as lost."""

    metric = "memory_used_bytes"

    def __init__(self, service, job: str):
        super().__init__(daemon=True)
        self.service, self.job = service, job
        self.session = OURS + os.urandom(16 - len(OURS))
        self.begin_us = time.time_ns() // 1000 // INTERVAL_US * INTERVAL_US - 3_600_000_000
        self.columns = wire.schema(COLUMNS)
        self.acknowledged = self.sent = 0
        self.rejected = set()
        self.surprises = []
        self.ended = threading.Event()

    def content(self, number: int) -> str:
        if number == 1:
            return LIFECYCLE
        if number > LOST_AT_ONCE and number % 89 < LOST_AT_ONCE:
            return LOST
        return REJECTED if number % 61 == 7 else TICK

    def last(self, number: int) -> int:
        """The highest number that a frame stands for."""
        return number + LOST_AT_ONCE - 1 if self.content(number) == LOST else number

    def value(self, number: int):
        return value_of(number)

    def payload(self, number: int) -> bytes:
        at_us = self.begin_us + number * INTERVAL_US
        return wire.row([at_us, number % 10_000, value_of(number)], SCALES)

    def frame(self, number: int) -> bytes:
        def sealed(kind, payload, columns=b"", columns_hash=0):
            return wire.frame(kind, self.session, number, self.begin_us, self.job, "node-1", payload, columns, columns_hash)

        content = self.content(number)
        if content == LIFECYCLE:
            started = b'{"event":"started","at_us":%d,"group":"","interval_ms":500,"command":["train"],"facts":{}}'
            return sealed(wire.LIFECYCLE, started % self.begin_us)
        if content == LOST:
            return sealed(wire.LOST, b'{"first":%d,"last":%d,"reason":"dropped"}' % (number, self.last(number)))
        # The schema rides along with each frame: which one is the first to be stored is left to the faults.
        payload = self.payload(number) if content == TICK else b"\x8f" * 40
        return sealed(wire.TICKS, payload, self.columns, wire.schema_hash(self.columns))

    def push(self, first: int, count: int):
        numbers = [first]
        while len(numbers) < count:
            numbers.append(self.last(numbers[-1]) + 1)
        self.sent = max(self.sent, self.last(numbers[-1]))
        return self.send(wire.push([self.frame(number) for number in numbers]))

    def send(self, body: bytes):
        return self.service.request("POST", "/api/v1/ingest/frames", body, "application/vnd.stepscope.frames")

    def count(self) -> int:
        """The number of frames in the next push."""
        return 1 + self.acknowledged % 7

    def run(self):
        while not self.ended.is_set():
            try:
                status, answer = self.push(self.acknowledged + 1, self.count())
            except OSError:
                time.sleep(0.05)
                continue
            self.take(status, answer)

    def take(self, status, answer):
        refused = {each["sequence"] for each in answer["rejected"]} if status == 200 else set()
        readable = [number for number in refused if self.content(number) != REJECTED]
        if status == 200 and readable == [] and self.acknowledged <= answer["acknowledged"] <= self.sent:
            self.acknowledged = answer["acknowledged"]
            self.rejected |= refused
        elif status not in (429, 503):
            self.surprises.append((status, answer))
            self.ended.set()
        else:
            time.sleep(0.05)


class Healthy(Pusher):
    """A pusher that loses nothing, and whose every tick can be read."""

    def content(self, number):
        return LIFECYCLE if number == 1 else TICK


class IdleGpus(Pusher):
    """Ticks of a node whose GPU waits for a core that is always busy: from its first tick on a finding."""

    metric = "gpu_util_percent"

    def __init__(self, *given):
        super().__init__(*given)
        self.columns = wire.schema([("at_us", ""), ("cpu_util_percent", "0"), ("gpu_util_percent", "0")])
        self.begin_us -= 5 * 3_600_000_000  # the ticks come faster than time goes by, and stay in the past
        self.end = 0  # the number that says so, once there is one

    def content(self, number):
        return LIFECYCLE if number in (1, self.end) else TICK

    def value(self, number):
        return number % 700 / 100

    def payload(self, number):
        return wire.row([self.begin_us + number * INTERVAL_US, 9_500 + number % 500, number % 700], [0, 2, 2])

    def take(self, *answered):
        super().take(*answered)
        time.sleep(0.01)

    def finish(self):
        """The training has ended well; said until it is acknowledged."""
        number = self.end = self.acknowledged + 1
        ended = b'{"event":"ended","at_us":%d,"exit_code":0}' % (self.begin_us + number * INTERVAL_US)
        frame = wire.frame(wire.LIFECYCLE, self.session, number, self.begin_us, self.job, "node-1", ended)

        self.sent = max(self.sent, number)

        def said():
            status, answer = self.service.request("POST", "/api/v1/ingest/frames", wire.push([frame]), "application/vnd.stepscope.frames")
            self.take(status, answer)
            return self.acknowledged == number

        wait_for(said, "the end is acknowledged", 30)
