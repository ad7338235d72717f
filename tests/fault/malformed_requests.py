"""Requests that were fine until something happened to their bytes. The same seed gives the same requests."""

import json
import random

from tests.fault.pusher import COLUMNS
from tests.support import wire
from tests.support.raw_http import Thrown, request

JSON = ("Content-Type", "application/json")
HEADERS = (
    "Content-Length: 5", "Content-Length: 0", "Content-Length: -1", "Content-Length: +5", "Content-Length: 99999999999999999999", "Content-Length: 1,1",
    "Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding:\tchunked", "Transfer-Encoding: identity", "Host: evil.example.com",
    "Host: ", "Host: localhost:99999999", "Expect: 100-continue", "Expect: the-worst", "Connection: close, keep-alive, upgrade", "Upgrade: h2c", "TE: trailers",
    "Trailer: X", "Range: bytes=0-,-1,5-2", "Content-Encoding: gzip", "Content-Encoding: br", "Content-Type: multipart/form-data; boundary=x", "REMOTE_ADDR: 10.0.0.1",
    "Origin: http://evil.example.com", "Sec-Fetch-Site: cross-site", "Authorization: Bearer ab%63%0d%0a", "X: a\x00b", "X: a\rb", "X : y", " folded", "X", ": y",
    "X: \xff\xfe", "X: " + "y" * 9_000, "If-None-Match: *", "Accept-Encoding: gzip;q=nan", "Cookie: st=" + "a" * 3_000, "X\x1b[31m: y",
)
PIECES = (b"\0", b"\r", b"\n", b"\r\n", b"\r\n\r\n", b"%00", b"%0d%0a", b"%", b"%zz", b"/../", b"//", b"?", b"#", b" ", b"\t", b"\x7f", b"\xff", b"\xc0\xae", b"{", b"]",
          b"\\ud800", b"1e999", b"-", b"HTTP/9.9", b"HTTP/1.0", b"GET ", b"A" * 2_100, b"a:b\r\n" * 70)
NUMBERS = (b"0", b"-1", b"+7", b"00000000000000000005", b"4294967296", b"18446744073709551616", b"1e3", b"0x10", b"", b" 5", b"5 5")


def frames():
    columns = wire.schema(COLUMNS)
    started = b'{"event":"started","at_us":1795205614000000,"group":"","interval_ms":500,"command":["train"],"facts":{}}'
    session = bytes(range(16))

    def sealed(kind, number, payload, *schema):
        return wire.frame(kind, session, number, 1795205614000000, "mutants", "node-1", payload, *schema)

    row = wire.row([1795205614500000, 1234, 5678], [0, 2, 0])
    return wire.push([sealed(wire.LIFECYCLE, 1, started), sealed(wire.TICKS, 2, row, columns, wire.schema_hash(columns))])


def wholesome():
    """Requests that are as they should be; one of each kind that the service knows."""
    job = json.dumps({"name": "mutants", "group": "g", "configuration": {"interval_ms": 500, "tags": {"a": "b"}, "rules": []}}).encode()
    webhook = json.dumps({"url": "https://alerts.example.com/mutants", "events": ["job.failed"]}).encode()
    push = frames()
    chunked = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (push[:50], push[50:])) + b"0\r\n\r\n"
    get = [
        "/", "/healthz", "/readyz", "/metrics", "/jobs/mutants", "/assets/none.js", "/api/v1/rules", "/api/v1/webhooks", "/api/v1/webhooks/1",
        "/api/v1/jobs?status=InProgress,Failed&limit=10&sort=-name", "/api/v1/jobs?name_contains=a%20b&created_after=2026-11-20T00:00:00Z",
        "/api/v1/jobs/mutants", "/api/v1/jobs/mutants/metrics?metric=node_cpu_percent&points=10&from_us=0", "/api/v1/jobs/mutants/steps?format=rows&rank=0",
        "/api/v1/jobs/mutants/rules", "/api/v1/jobs/mutants/findings?limit=5", "/api/v1/deliveries?webhook=1&cursor=MTIz",
    ]
    frames_type = ("Content-Type", "application/vnd.stepscope.frames")
    return [
        *(request("GET", path) for path in get),
        request("HEAD", "/"),
        request("POST", "/api/v1/jobs", [JSON, ("Origin", "http://127.0.0.1")], job),
        request("POST", "/api/v1/webhooks", [JSON], webhook),
        request("POST", "/api/v1/webhooks/1/test", [JSON], b"{}"),
        request("POST", "/api/v1/deliveries/1/retry", [JSON]),
        request("DELETE", "/api/v1/webhooks/999999"),
        request("POST", "/api/v1/ingest/frames", [frames_type], push),
        request("POST", "/api/v1/ingest/frames", [frames_type, ("Transfer-Encoding", "chunked")]) + chunked,
        request("GET", "/healthz") * 3,
    ]


def place(dice, data):
    """Anywhere, but more often in the head than its length would give."""
    head = data.find(b"\r\n\r\n") + 4
    return dice.randrange(max(1, head)) if dice.random() < 0.7 else dice.randrange(max(1, len(data)))


def flip(dice, data):
    at = min(place(dice, data), len(data) - 1)
    return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]


def drop(dice, data):
    at = place(dice, data)
    return data[:at] + data[at + dice.choice((1, 1, 1, 2, 8, 40)) :]


def double(dice, data):
    at = place(dice, data)
    length = dice.choice((1, 2, 10, 100))
    return data[: at + length] + data[at : at + length] * dice.choice((1, 1, 50)) + data[at + length :]


def cut(dice, data):
    return data[: place(dice, data)]


def put_in(dice, data):
    at = place(dice, data)
    return data[:at] + dice.choice(PIECES) + data[at:]


def add_header(dice, data):
    head, end, body = data.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    lines.insert(dice.randrange(1, len(lines) + 1), dice.choice(HEADERS).encode("latin-1"))
    return b"\r\n".join(lines) + end + body


def double_header(dice, data):
    head, end, body = data.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    lines.insert(dice.randrange(1, len(lines) + 1), dice.choice(lines[1:] or [b"X: y"]))
    return b"\r\n".join(lines) + end + body


def change_number(dice, data):
    """Puts another number where digits are: mostly lengths, versions and ports."""
    places = [at for at, byte in enumerate(data[:2_000]) if 48 <= byte <= 57]
    if not places:
        return data
    start = end = dice.choice(places)
    while end < len(data) and 48 <= data[end] <= 57:
        end += 1
    return data[:start] + dice.choice(NUMBERS) + data[end:]


def change_line_ends(dice, data):
    return data.replace(b"\r\n", dice.choice((b"\n", b"\r", b"\r\r\n", b"\n\r")), dice.choice((1, 2, -1)))


def change_method(dice, data):
    return dice.choice((b"PUT", b"PATCH", b"OPTIONS", b"TRACE", b"CONNECT", b"get", b"", b"G" * 300, b"\x16\x03\x01", b"PRI")) + data[data.find(b" ") :]


def noise(dice, data):
    return dice.randbytes(dice.choice((1, 30, 500)))


MUTATIONS = (flip, drop, double, cut, put_in, put_in, add_header, add_header, double_header, change_number, change_number, change_line_ends, change_method, noise)


def mutants(count, seed):
    """`count` requests, each with one to three mutations; some arrive in pieces, a few never say that they are over."""
    dice, bases = random.Random(f"requests {seed}"), wholesome()
    throws = []
    for _ in range(count):
        data, names = dice.choice(bases), []
        for _ in range(dice.choice((1, 1, 1, 2, 3))):
            mutation = dice.choice(MUTATIONS)
            data, names = mutation(dice, data) or b"\0", [*names, mutation.__name__]
        throws.append(Thrown(data, " ".join(names), pieces=dice.choice((1, 1, 2, 7)), half_closes=dice.random() < 0.96))
    return throws
