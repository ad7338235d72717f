"""Traps of clients that are slow, idle, or many."""

import json
import signal
import subprocess
import threading
import time

from tests.support.raw_http import RawClient, request
from tests.support.service import program

PATIENCE = 20.0  # a request that is not answered until then counts as not answered


def shown(seconds):
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def after(seconds):
    """Words for the time at which something came to pass; None: it did not."""
    return f"after {shown(seconds)}" if seconds is not None else f"not within {PATIENCE:.0f} s"


def source(number):
    """Addresses of loopback, so that no limit for one address hides what is to be seen."""
    return f"127.5.{number // 1000}.{1 + number // 20 % 50}"


def open_many(side, count, first_words):
    clients = [RawClient(side.port, source(number), 2.0) for number in range(count)]
    for number, client in enumerate(clients):
        client.send(first_words(number))
    return clients


def close_all(clients):
    for client in clients:
        client.socket.close()


def idle_connections(side):
    clients = open_many(side, 500, lambda number: request("GET", side.small) if number % 2 else b"")
    waited = side.seconds_to_answer(PATIENCE)
    close_all(clients)
    return f"the next client is answered {after(waited)}", bool(waited and waited < 1)


def honest_agents(side):
    said, held = [], True
    for nodes in (40, 200):
        frames = side.folder / "frames"
        subprocess.run([program("bench/make_frames"), "--frames", frames, "--nodes", str(nodes), "--job", f"agents-{nodes}", "--seconds", "20",
                        "--begin-us", str((int(time.time()) - 20) * 10**6)], check=True, capture_output=True)
        command = [program("bench/agents"), "--port", side.port, "--frames", frames, "--path", side.body, "--every-ms", 2000, "--seconds", 25]
        out = json.loads(subprocess.run([str(word) for word in command], check=True, capture_output=True).stdout)
        said.append(f"{nodes} agents: {out['answered_within_an_interval']:,} of {out['due']:,} in time, p99 {shown(out['p99_ms'] / 1000)}")
        held = held and out["answered_within_an_interval"] == out["due"]
    return "; ".join(said), held


class Drip(threading.Thread):
    """Sends each client one byte every 4 s, until all are closed or the patience is over."""

    def __init__(self, clients, byte):
        super().__init__(daemon=True)
        self.clients, self.byte = clients, byte
        self.closed_after = None
        self.start()

    def run(self):
        began, due = time.monotonic(), 0.0
        while time.monotonic() - began < PATIENCE:
            if time.monotonic() - began >= due:
                due += 4
                for client in self.clients:
                    client.send(self.byte)
            if not any(client.is_open() for client in self.clients):
                self.closed_after = time.monotonic() - began
                return
            time.sleep(0.05)


def dripping(side):
    said, held = [], True
    bodies = request("POST", side.body, [("Content-Type", side.body_type), ("Content-Length", "1000")])
    for name, words, byte in (("heads", b"GET / HTTP/1.1\r\n", b"X"), ("bodies", bodies, b"x")):
        clients = open_many(side, 8, lambda _: words)
        drip = Drip(clients, byte)
        waited = side.seconds_to_answer(PATIENCE)
        drip.join()
        close_all(clients)
        said.append(f"{name}: others are answered {after(waited)}, they are closed {after(drip.closed_after)}")
        held = held and bool(waited and waited < 1 and drip.closed_after)
    return "; ".join(said), held


def non_readers(side):
    clients = [RawClient(side.port, source(number), 2.0, receive_buffer=4096) for number in range(8)]
    for client in clients:
        client.send(request("GET", side.large) * 20)
    waited = side.seconds_to_answer(PATIENCE)
    close_all(clients)
    return f"others are answered {after(waited)}", bool(waited and waited < 1)


def post_without_body(side):
    with RawClient(side.port) as client:
        began = time.monotonic()
        client.send(request("POST", side.body))
        answer = client.read_answer(PATIENCE)
        took = time.monotonic() - began
    status = answer.status if answer else "no answer"
    return f"{status} after {shown(took)}", bool(answer and took < 1)


def half_closer(side):
    with RawClient(side.port) as client:
        client.send(request("GET", side.small))
        client.end_sending()
        answer = client.read_answer(PATIENCE)
    return f"{answer.status}" if answer else "gets nothing", bool(answer)


def kept_connection(side, count=100):
    with RawClient(side.port) as client:
        began = time.monotonic()
        for _ in range(count):
            client.send(request("GET", side.small))
            if not client.read_answer(PATIENCE):
                client.__init__(side.port)
                client.send(request("GET", side.small))
                client.read_answer(PATIENCE)
        each = (time.monotonic() - began) / count
    return f"{each * 1000:.2f} ms each", each < 0.01


def stopping(side):
    clients = open_many(side, 68, lambda number: b"GET / HTTP/1.1\r\nX" if number < 8 else request("GET", side.small))
    began, dripped = time.monotonic(), 0.0
    side.process.send_signal(signal.SIGTERM)
    while side.process.poll() is None and time.monotonic() - began < PATIENCE:
        if time.monotonic() - began > dripped:
            dripped += 1
            for client in clients[:8]:
                client.send(b"x")
        time.sleep(0.02)
    took = time.monotonic() - began if side.process.poll() is not None else None
    close_all(clients)
    return f"it ends {after(took)}", bool(took and took <= 10)


TRAPS = (
    ("T1", "500 idle connections, half of them after a request", idle_connections),
    ("T2", "40 and 200 honest agents, a push every 2 s over kept connections, 20 s", honest_agents),
    ("T3", "8 connections that send a byte every 4 s", dripping),
    ("T4", "8 clients that ask for a large answer 20 times and never read", non_readers),
    ("T18", "POST without a body and without a length", post_without_body),
    ("T19", "a client that ends its sending side behind the request", half_closer),
    ("T20", "100 requests in a row over one kept connection", kept_connection),
    ("T23", "SIGTERM with 60 idle and 8 slow connections", stopping),
)
