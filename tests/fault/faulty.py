"""Shared by the tests of a faulty PostgreSQL: a pusher that remembers each refusal, and looks from outside."""

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass

from tests.fault.pusher import Pusher
from tests.support.raw_http import RawClient, request
from tests.support.service import wait_for

FRAMES = (("Content-Type", "application/vnd.stepscope.frames"),)


@dataclass(frozen=True)
class Seen:
    """An answer: when it came, and how long it took."""

    at: float
    seconds: float
    status: int
    body: dict
    retry_after: str


def ask(port, method, path, headers=(), body=b"", seconds=30):
    begun = time.monotonic()
    with RawClient(port) as client:
        client.send(request(method, path, (*headers, ("Connection", "close")), body))
        answer = client.read_answer(seconds)
    if answer is None:
        raise ConnectionError(f"{method} {path}: no answer")
    now = time.monotonic()
    return Seen(now, now - begun, answer.status, json.loads(answer.body), answer.headers.get("retry-after", ""))


def readiness(service):
    return ask(service.port, "GET", "/readyz")


def reasons(seen):
    """{check: detail} of what /readyz says is wrong."""
    return {check["name"]: check["detail"] for check in seen.body["checks"] if not check["ok"]}


class Watched(Pusher):
    """Remembers what it was answered; `most` frames in a push."""

    def __init__(self, service, job, most=7):
        super().__init__(service, job)
        self.most, self.answers = most, []

    def count(self):
        return 1 + self.acknowledged % self.most

    def send(self, body):
        seen = ask(self.service.port, "POST", "/api/v1/ingest/frames", FRAMES, body)
        self.answers.append(seen)
        return seen.status, seen.body


@contextmanager
def pushing(service, *jobs, most=7):
    """Pushers that have begun and go on; afterwards all of them have ended."""
    pushers = [Watched(service, job, most) for job in jobs]
    for each in pushers:
        each.start()
    try:
        await_pushes(pushers, 20)
        yield pushers
    finally:
        for each in pushers:
            each.ended.set()
        for each in pushers:
            each.join(40)


def await_pushes(pushers, more, seconds=60):
    """Waits until the service has acknowledged so many more frames of each pusher."""
    goals = [each.acknowledged + more for each in pushers]
    done = lambda: any(each.ended.is_set() for each in pushers) or all(each.acknowledged >= goal for each, goal in zip(pushers, goals))
    wait_for(done, "pushes are taken", seconds, pause=0.01)
    assert [each.surprises for each in pushers if each.surprises] == []


def check_refusals(pushers, since, until, code="unavailable"):
    """All requests between the two instants were answered with 503, in time and with the time to wait."""
    for each in pushers:
        answers = [seen for seen in each.answers if since < seen.at - seen.seconds and seen.at < until]
        assert answers, f"{each.job}: no answer in {until - since:.1f} s"
        for seen in answers:
            assert (seen.status, seen.body.get("code")) == (503, code), (since, seen)
            assert int(seen.retry_after) >= 1 and seen.seconds < 5, seen


def tree(pid):
    """A process and its children, the parent first; nothing of 0, which is no process."""
    if pid == 0:
        return []
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    return [pid, *map(int, children)]


@contextmanager
def stopped(pids):
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
