"""One sender tells as much as it may, and more: nobody else notices, and what is read of it stays small."""

import json
import os
import threading
import time

import pytest

from tests.support import wire
from tests.support.service import SANITIZED, Service, wait_for

NODES, RANKS, TURNS = 60, 120, 10
FACTS = {f"fact{number:05}": "x" * 20 for number in range(6_500)}  # 230 KB, as much as a frame holds
NOW_US = time.time_ns() // 1000
MOST_ANSWER, MOST_MEMORY = 32 << 20, 512 << 20


class Sender:
    """The agent of a node, whose frames are what a test says."""

    def __init__(self, service, job, node):
        self.service, self.job, self.node = service, job, node
        self.session, self.sequence = os.urandom(16), 0

    def frame(self, kind, payload, columns=b"", columns_hash=0):
        self.sequence += 1
        return wire.frame(kind, self.session, self.sequence, NOW_US, self.job, self.node, payload, columns, columns_hash)

    def told(self, event, **more):
        return self.frame(wire.LIFECYCLE, json.dumps({"event": event, "at_us": NOW_US, **more}).encode())

    def push(self, *frames):
        return self.service.request("POST", "/api/v1/ingest/frames", wire.push(frames), "application/vnd.stepscope.frames")[0]


class Honest(threading.Thread):
    """Another job, that pushes a tick each 0.2 s."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.sender, self.statuses, self.longest, self.over = Sender(service, "speech-1", "node-s"), [], 0.0, threading.Event()
        self.columns = wire.schema([("at_us", ""), ("node_cpu_percent", "")])
        assert self.sender.push(self.sender.told("started")) == 200

    def run(self):
        number = 0
        while not self.over.wait(0.2):
            number += 1
            tick = wire.row([NOW_US + number * 500_000, 4200], [0, 2])
            began = time.monotonic()
            self.statuses.append(self.sender.push(self.sender.frame(wire.TICKS, tick, self.columns, wire.schema_hash(self.columns))))
            self.longest = max(self.longest, time.monotonic() - began)


def peak_memory(service):
    with open(f"/proc/{service.process.pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def size_of(service, path):
    status, answer = service.get(path)
    assert status == 200, (path, status, answer)
    return len(answer if isinstance(answer, str) else json.dumps(answer))


def attack(service):
    senders = [Sender(service, "vision-1", f"node-{number}") for number in range(NODES)]
    for sender in senders:
        assert sender.push(sender.told("started", command=["train"] * 100, facts=FACTS)) == 200
    for rank in range(RANKS):
        sender = senders[rank % NODES]
        assert sender.push(sender.told("rank", rank=rank, facts=FACTS)) == 200
    for turn in range(TURNS):
        for sender in senders[:12]:
            ended = [sender.told("ended", exit_code=0, output=["y" * 4000] * 50), sender.told("started", facts=FACTS)]
            assert sender.push(*ended) == 200
        yield turn


def names_without_end(service):
    """Schemas of ticks with as many names as fit, each another one."""
    sender = Sender(service, "vision-2", "node-n")
    assert sender.push(sender.told("started")) == 200
    for number in range(40):
        columns = wire.schema([("at_us", ""), ("node_cpu_percent", f"cpu{number}")], names=[f"{name:063}" for name in range(4096)])
        assert sender.push(sender.frame(wire.TICKS, wire.row([NOW_US, 1], [0, 2]), columns, wire.schema_hash(columns))) == 200


@pytest.fixture
def service(folder):
    """Without the law of the other tests: what is refused here is sent on purpose."""
    started = Service(folder).start()
    yield started
    started.stop()


def test_what_one_sender_tells_costs_the_others_nothing(service, capsys):
    honest = Honest(service)
    honest.start()
    for turn in attack(service):
        if turn % 5 == 0:
            assert size_of(service, "/api/v1/jobs/vision-1") < MOST_ANSWER
            assert size_of(service, "/api/v1/jobs?limit=50") < 1 << 20
    names_without_end(service)
    assert size_of(service, "/api/v1/jobs/vision-1/report") < MOST_ANSWER
    assert size_of(service, "/api/v1/jobs/vision-1/report.html") < MOST_ANSWER
    honest.over.set()
    honest.join(60)
    with capsys.disabled():
        print(f"\nbounds: {len(honest.statuses)} pushes of another job, the longest took {honest.longest:.2f} s; {peak_memory(service) >> 20} MB at most")
    assert len(honest.statuses) > 20 and set(honest.statuses) == {200}
    description = service.get("/api/v1/jobs/vision-1")[1]
    assert len(description["nodes"]) == NODES and len(description["ranks"]) == RANKS
    assert all(len(json.dumps(rank["facts"])) <= 4096 for rank in description["ranks"])
    assert SANITIZED or peak_memory(service) <= MOST_MEMORY
    wait_for(lambda: service.get("/readyz")[0] == 200, "the service is ready")
