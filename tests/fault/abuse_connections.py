"""Holds connections that do no work: idle ones, ones that drip, ones that never read. What the service closes is opened again.

    python -m tests.fault.abuse_connections PORT LARGE-PATH SECONDS IDLE DRIPPING DEAF

Prints what happened as one line of JSON at the end.
"""

import json
import select
import socket
import sys
import time

from tests.support.raw_http import request
from tests.support.service import use_all_descriptors

TICK = 0.1
AGAIN_SECONDS = 1.0  # before a closed one is opened again
PER_ADDRESS = 40


class Connection:
    """A place for a connection: its socket, or the time when the next is opened."""

    def __init__(self, number, kind, first, then):
        self.number, self.kind, self.first, self.then = number, kind, first, then
        self.source = (f"127.4.{number // PER_ADDRESS // 250}.{1 + number // PER_ADDRESS % 250}", 0)
        self.socket, self.open_at = None, 0.0

    def open(self, port):
        self.socket = socket.socket()
        if self.kind == "deaf":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.setblocking(False)
        self.socket.bind(self.source)
        self.socket.connect_ex(("127.0.0.1", port))

    def say(self, data):
        """Sends data, and forgets what does not go out at once."""
        try:
            self.socket.send(data)
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            return False
        return True

    def close(self, now):
        self.socket.close()
        self.socket, self.open_at = None, now + AGAIN_SECONDS


class Holder:
    def __init__(self, port, connections):
        self.port, self.connections = port, connections
        self.poll = select.epoll()
        self.by_descriptor = {}
        self.counts = {"opened": 0, "closed": 0, "most_open": 0}

    def open(self, each):
        each.open(self.port)
        self.by_descriptor[each.socket.fileno()] = each
        self.poll.register(each.socket, select.EPOLLOUT)
        self.counts["opened"] += 1

    def close(self, each, now):
        del self.by_descriptor[each.socket.fileno()]
        each.close(now)
        self.counts["closed"] += 1

    def take(self, each, event, now):
        if event & (select.EPOLLERR | select.EPOLLHUP):
            self.close(each, now)
        elif event & select.EPOLLOUT:  # connected
            self.poll.modify(each.socket, select.EPOLLRDHUP if each.kind == "deaf" else select.EPOLLIN)
            each.say(each.first)
        elif each.kind == "deaf" or not self.reads(each):
            self.close(each, now)

    @staticmethod
    def reads(each):
        try:
            return bool(each.socket.recv(65536))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def run(self, seconds):
        end, tick = time.monotonic() + seconds, 0
        while (now := time.monotonic()) < end:
            for each in [each for each in self.connections if not each.socket and now >= each.open_at][:200]:
                self.open(each)
            for descriptor, event in self.poll.poll(TICK, 1_000):
                if descriptor in self.by_descriptor:
                    self.take(self.by_descriptor[descriptor], event, now)
            self.drip(tick, now)
            tick += 1
            self.counts["most_open"] = max(self.counts["most_open"], len(self.by_descriptor))

    def drip(self, tick, now):
        """A tenth of those that drip say another byte."""
        for each in [each for each in self.by_descriptor.values() if each.then and each.number % 10 == tick % 10]:
            if not each.say(each.then):
                self.close(each, now)


def connections(large, idle, dripping, deaf):
    healthy = request("GET", "/healthz")
    frames = request("POST", "/api/v1/ingest/frames", [("Content-Type", "application/vnd.stepscope.frames"), ("Content-Length", "100000")])
    kinds = [("idle", healthy if number % 2 else b"", b"") for number in range(idle)]
    kinds += [("dripping", b"GET / HTTP/1.1\r\nX-Slow: ", b"x") if number % 2 else ("dripping", frames, b"x") for number in range(dripping)]
    kinds += [("deaf", request("GET", large) * 20, b"") for _ in range(deaf)]
    return [Connection(number, *kind) for number, kind in enumerate(kinds)]


def main():
    port, large, seconds, *counts = sys.argv[1:]
    use_all_descriptors()
    holder = Holder(int(port), connections(large, *map(int, counts)))
    holder.run(float(seconds))
    print(json.dumps(holder.counts))


if __name__ == "__main__":
    main()
