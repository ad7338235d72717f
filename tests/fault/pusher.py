"""Pushes numbered frames as an agent would, and remembers what was acknowledged."""

import os
import threading
import time

from tests.support import wire
from tests.support.service import wait_for

COLUMNS = [("at_us", ""), ("node_cpu_percent", ""), ("memory_used_bytes", "")]
SCALES = [0, 2, 0]
INTERVAL_US = 500_000


def value_of(number: int) -> int:
    """A value that only this number has: a sample that was changed or mixed up shows."""
    return number * 2_654_435_761 % (1 << 40)


class Pusher(threading.Thread):
    """Frames 1, 2, 3, ... of one session; each holds one tick. Frame 1 starts the job."""

    def __init__(self, service, job: str):
        super().__init__(daemon=True)
        self.service, self.job = service, job
        self.session = os.urandom(16)
        self.begin_us = time.time_ns() // 1000 // INTERVAL_US * INTERVAL_US - 3_600_000_000
        self.columns = wire.schema(COLUMNS)
        self.acknowledged = 0
        self.surprises = []
        self.ended = threading.Event()

    def payload(self, number: int) -> bytes:
        at_us = self.begin_us + number * INTERVAL_US
        return wire.row([at_us, number % 10_000, value_of(number)], SCALES)

    def frame(self, number: int) -> bytes:
        def sealed(kind, payload, columns=b"", columns_hash=0):
            return wire.frame(kind, self.session, number, self.begin_us, self.job, "node-1", payload, columns, columns_hash)

        if number == 1:
            started = b'{"event":"started","at_us":%d,"group":"","interval_ms":500,"command":["train"],"facts":{}}'
            return sealed(wire.LIFECYCLE, started % self.begin_us)
        # The schema rides along with each frame: which one is the first to be stored is left to the faults.
        return sealed(wire.TICKS, self.payload(number), self.columns, wire.schema_hash(self.columns))

    def push(self, first: int, count: int):
        body = wire.push([self.frame(number) for number in range(first, first + count)])
        return self.service.request("POST", "/api/v1/ingest/frames", body, "application/vnd.stepscope.frames")

    def run(self):
        while not self.ended.is_set():
            count = 1 + self.acknowledged % 7
            try:
                status, answer = self.push(self.acknowledged + 1, count)
            except OSError:
                time.sleep(0.05)
                continue
            self.take(status, answer, self.acknowledged + count)

    def take(self, status, answer, last):
        if status == 200 and answer["rejected"] == [] and self.acknowledged <= answer["acknowledged"] <= last:
            self.acknowledged = answer["acknowledged"]
        elif status not in (429, 503):
            self.surprises.append((status, answer))
            self.ended.set()
        else:
            time.sleep(0.05)


class IdleGpus(Pusher):
    """Ticks of a node whose GPU waits for a core that is always busy: from its first tick on a finding."""

    def __init__(self, *given):
        super().__init__(*given)
        self.columns = wire.schema([("at_us", ""), ("cpu_util_percent", "0"), ("gpu_util_percent", "0")])
        self.begin_us -= 5 * 3_600_000_000  # the ticks come faster than time goes by, and stay in the past

    def payload(self, number):
        return wire.row([self.begin_us + number * INTERVAL_US, 9_500 + number % 500, number % 700], [0, 2, 2])

    def take(self, *answered):
        super().take(*answered)
        time.sleep(0.01)

    def finish(self):
        """The training has ended well; said until it is acknowledged."""
        number = self.acknowledged + 1
        ended = b'{"event":"ended","at_us":%d,"exit_code":0}' % (self.begin_us + number * INTERVAL_US)
        frame = wire.frame(wire.LIFECYCLE, self.session, number, self.begin_us, self.job, "node-1", ended)

        def said():
            status, answer = self.service.request("POST", "/api/v1/ingest/frames", wire.push([frame]), "application/vnd.stepscope.frames")
            return status == 200 and answer["acknowledged"] == number

        wait_for(said, "the end is acknowledged", 30)
