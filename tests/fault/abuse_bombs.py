"""Throws what is too large, packed, deep or long, one after the other, again and again.

    python -m tests.fault.abuse_bombs PORT LARGE-PATH SECONDS KIND

Prints the answers by status as one line of JSON at the end.
"""

import itertools
import json
import os
import sys
import time
import zlib
from collections import Counter

from tests.fault.pusher import OURS
from tests.support import wire
from tests.support.raw_http import RawClient, request

MEGABYTE = 1 << 20
FRAMES = ("Content-Type", "application/vnd.stepscope.frames")
JSON = ("Content-Type", "application/json")


def zeros_packed(megabytes):
    """A gzip stream of zeros; its blocks repeat, so it costs nothing to make. The check sum at its end is wrong."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + block * megabytes + b"\x03\0" + b"\0" * 8


def declared(large):
    yield request("POST", "/api/v1/ingest/frames", [FRAMES, ("Content-Length", str(1 << 30))])
    for _ in range(1_024):
        yield b"x" * MEGABYTE


def chunked(large):
    yield request("POST", "/api/v1/ingest/frames", [FRAMES, ("Transfer-Encoding", "chunked")])
    for _ in range(1_024):
        yield b"100000\r\n" + b"x" * MEGABYTE + b"\r\n"


def packed(large):
    for megabytes in (3_000, 10_000):  # below and above what a push may have as it comes
        body = zeros_packed(megabytes)
        yield request("POST", "/api/v1/ingest/frames", [FRAMES, ("Content-Encoding", "gzip")], body)


def deep(large):
    yield request("POST", "/api/v1/jobs", [JSON], b'{"name":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    yield request("POST", "/api/v1/jobs", [JSON], b"[" + b"{}," * 80_000 + b"{}]")


def long_path(large):
    yield request("GET", "/api/v1/jobs/" + "a" * 8_100)


def ranges(large):
    yield request("GET", large, [("Range", "bytes=0-" + ",0-" * 2_499)])


def headers(large):
    yield b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"a:b\r\n" * 200_000 + b"\r\n"


FACTS = {f"fact{number:05}": "x" * 20 for number in range(6_500)}  # 230 KB, as much as a frame holds
told = itertools.count()


def telling(large):
    """An agent whose frames are allowed and as large as may be: facts of a node and its ranks, last lines, names of no use."""
    session, job, now_us, numbers = OURS + os.urandom(16 - len(OURS)), f"told-{next(told)}", time.time_ns() // 1000, itertools.count(1)

    def sealed(kind, payload, columns=b"", columns_hash=0):
        return wire.frame(kind, session, next(numbers), now_us, job, "node-told", payload, columns, columns_hash)

    def said(event, **more):
        return sealed(wire.LIFECYCLE, json.dumps({"event": event, "at_us": now_us, **more}).encode())

    names = wire.schema([("at_us", ""), ("node_cpu_percent", "")], names=[f"{name:063}" for name in range(4096)])
    frames = [said("started", command=["train"] * 4096, facts=FACTS), *(said("rank", rank=rank, facts=FACTS) for rank in range(3))]
    frames += [sealed(wire.TICKS, wire.row([now_us, 1], [0, 2]), names, wire.schema_hash(names)), said("ended", exit_code=1, output=["y" * 4000] * 50)]
    yield request("POST", "/api/v1/ingest/frames", [FRAMES], wire.push(frames))


KINDS = {each.__name__: each for each in (declared, chunked, packed, deep, long_path, ranges, headers, telling)}


def throw(port, pieces, source):
    """The status of the first answer; 0 when there is none."""
    with RawClient(port, source, seconds=20) as client:
        for piece in pieces:
            if not client.send(piece):
                break
        answer = client.read_answer(20)
        return answer.status if answer else 0


def main():
    port, large, seconds, kind = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4]
    end, statuses, source = time.monotonic() + seconds, Counter(), f"127.6.0.{1 + list(KINDS).index(kind)}"
    while time.monotonic() < end:
        statuses[throw(port, KINDS[kind](large), source)] += 1
        time.sleep(0.02)  # a bomb is meant to cost the service, not the machine of the test
    print(json.dumps(statuses))


if __name__ == "__main__":
    main()
