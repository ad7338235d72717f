"""Writes the beginnings of the corpora, tests/fuzz/corpus/<target>/seed-<number>.

    python3 tests/fuzz/seeds.py

What else lies in a corpus was found by libFuzzer from these: scripts/fuzz --keep puts it there.
"""

import gzip
import json
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
from tests.support import wire  # noqa: E402

START_US = 1_795_205_614_000_000


def request(line="GET / HTTP/1.1", *headers, body=b""):
    return "\r\n".join([line, "Host: localhost:8080", *headers, "", ""]).encode() + body


def packed(data):
    return gzip.compress(data, mtime=0)


def chunks(data, size):
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def requests():
    text = b'{"name": "mlp"}'
    coded = packed(text * 9)
    yield request()
    yield request("\r\nGET /api/v1/jobs?page=2&q=a%20b HTTP/1.0", "Connection: keep-alive")
    yield request("OPTIONS * HTTP/1.1", "Connection: close, TE", "TE: trailers")
    yield request("POST /api/v1/jobs HTTP/1.1", f"Content-Length: {len(text)}", "Content-Type: application/json", body=text + b"GET /")
    yield request("POST / HTTP/1.1", "Transfer-Encoding: chunked", "Expect: 100-continue", body=chunks(text, 4) + b"GET /")
    yield request("PUT / HTTP/1.1", "Content-Encoding: gzip", f"Content-Length: {len(coded)}", body=coded)
    yield request("POST / HTTP/1.1", "Content-Encoding: gzip", "Transfer-Encoding: chunked", body=chunks(coded, 7))
    yield request("GET / HTTP/1.1", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")
    yield request("GET / HTTP/1.1", "Authorization: Bearer st_x%63", "Range: bytes=0-,0-", "REMOTE_ADDR: 10.0.0.1", "X:\t a \t", "x: b")
    yield request("POST / HTTP/1.1", "Content-Length: 3", "Content-Length: 3", body=b"abc")
    yield request("POST / HTTP/1.1", "Content-Length: 3", "Transfer-Encoding: chunked", body=b"0\r\n\r\n")
    yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def bodies():
    text = b"a text that is long enough, " * 5
    yield b"\0\5\0hello and more"
    yield b"\1\0\0" + chunks(text, 11) + b"more"
    yield b"\1\0\0A\r\n0123456789\r\n00000000\r\n\r\n"
    yield b"\1\0\0" + b"5;x=y\r\nhello\r\n0\r\nX: y\r\n\r\n"
    yield b"\1\0\0-2\r\nab\r\n"
    yield b"\1\0\0ffffffff\r\n"
    yield b"\2" + struct.pack("<H", len(packed(text))) + packed(text)
    yield b"\3\0\0" + chunks(packed(text), 13)


def inflations():
    for data in (b"", b"text", bytes(range(256)) * 2, b"\0" * 15_000, b"\0" * 30_000):
        yield b"\0" + packed(data)
        yield b"\1" + packed(data)[10:]
    yield b"\0" + packed(b"one") + packed(b"two")


def queries():
    yield from (b"", b"a=b=c&empty=&flag&d=e+f%26", b"a=1&a=2", b"a=%00", b"q=%C3%A4&page=2", b"=1&&b=%", b"%41+%2b")


def urls():
    for url in ("http://a.example/hook?x=1", "https://[2001:db8::1]:8443/", "http://127.0.0.1:80/", "http://0x7f.1/",
                "http://user@a/", "https://a.example.:443/%2e", "http://[::ffff:10.0.0.1]/", "HTTP://A.Example", "http://2130706433/"):
        yield url.encode() + b"\n93.184.216.34\n2606:2800:220:1::1"
        yield url.encode() + b"\n93.184.216.34\n64:ff9b::a00:1"
        yield url.encode() + b"\n2002:7f00:1::\n::ffff:192.168.0.1\n::1"


def tokens():
    for role in ("agent", "reader", "operator", "admin", "none"):
        yield f"st_{role}_0123abcd_{'Ab3' * 10}xy".encode()
    yield b"team-a-*team-a-mlp"
    yield b"mlp-7mlp-7"


def jsons():
    yield json.dumps({"a": [1, -2.5, None, True, "text \u00e4 \\ \""], "b": {"c": {}}}).encode()
    yield json.dumps({"acknowledged": 7, "expected": 8, "server_time_us": START_US,
                      "rejected": [{"sequence": 5, "code": "bad-table", "detail": "why"}]}).encode()
    yield b'{"type": "urn:x", "status": 409, "code": "gap", "detail": "d", "expected": 12}'
    yield from (b'{"a":1,"a":2}', b"[" * 40, b"1e400", b"9007199254740993", b'"\\ud800"', b'"\\u0000"', b"\xef\xbb\xbf[]")


def samples():
    times = [START_US, START_US - 500_000, START_US]
    series = [{"metric": "user.loss", "values": [2.5, None, 3e-7]}, {"metric": "gpu_util_percent", "device": "gpu0", "values": [97, 95.5, -0.0]}]
    yield json.dumps({"node": "n1", "times_us": times, "series": series}).encode()
    yield json.dumps({"series": series[:1], "times_us": times[:2], "node": "n1"}).encode()
    yield json.dumps({"node": "n1", "times_us": [START_US + at for at in range(700)], "series": [{"metric": "user.a", "values": list(range(700))}]}).encode()
    for value in ("9e18", "9.1e18", "9007199254740993", "1e-300", "null", "0.30000000000000004", "1e400"):
        yield f'{{"node":"n","times_us":[{START_US}],"series":[{{"metric":"user.a","values":[{value}]}}]}}'.encode()


def frames():
    columns = wire.schema([("at_us", ""), ("node_cpu_percent", ""), ("gpu_memory_bytes", "gpu0")])
    table = wire.row([START_US, 4127, 1 << 33], [0, 2, 0])
    session = bytes(range(16))
    ticks = wire.frame(wire.TICKS, session, 1, START_US, "mlp", "n1", table, columns, wire.schema_hash(columns))
    known = wire.frame(wire.TICKS, session, 2, START_US, "mlp", "n1", table, b"", wire.schema_hash(columns))
    life = wire.frame(wire.LIFECYCLE, session, 3, START_US, "mlp", "n1", b'{"event": "started", "at_us": 1}')
    for one in (ticks, known, life):
        yield b"\0" + one
        yield b"\1" + one[:-4]
    yield b"\0" + wire.push([ticks, known, life])
    yield b"\0" + columns


def columns():
    yield b"\0" + struct.pack("<6q", 1, 2, 3, 5, 8, -(1 << 62))
    yield b"\xff" + struct.pack("<6q", 100, 300, 200, 0, 0, 700)
    yield b"\x12" + b"".join(struct.pack("<q", START_US + at * 500_000) for at in range(40))
    yield b"\1\0\2" + wire.varint(wire.zigzag(4127)) + wire.varint(0)  # a constant column
    yield b"\1\1\0" + wire.varint(5) + wire.varint(2) + wire.varint(1) + b"\1\1\2"
    yield wire.row([START_US, 4127, 1 << 33], [0, 2, 0])


def summaries():
    def summary(points, in_last, walls):
        """Of steps of 1 s; walls are (bins skipped, steps)."""
        yield b"\2" + wire.varint(points) + wire.varint(in_last) + wire.varint(0b1001)
        for number in range(points):
            first = [1, START_US, 64 * 10**9, 10**7, 0]  # step, start_us, wall_ns; data, loss in microseconds
            yield b"".join(wire.varint(wire.zigzag(value if number == 0 else 0)) for value in first)
        yield b"".join(wire.varint(wire.zigzag(value)) for value in (in_last - 1, 10**9, 0, *[0] * 10))
        yield wire.varint(len(walls)) + b"".join(wire.varint(skipped) + wire.varint(count) for skipped, count in walls)

    at = 22 * 128 + (10**9 >> 22)  # the bin of 1 s
    yield b"".join(summary(1, 1, [(at, 1)]))
    yield b"".join(summary(64, 64, [(at, 4096)]))
    yield b"".join(summary(2, 3, [(at, 60), (0, 7)]))
    yield b"".join(summary(1, 64, [(at, 64)]))[:-1]


def marks():
    golden = json.loads((HERE.parent / "core/wire/mark_golden.json").read_text())
    for message in golden["messages"].values():
        yield bytes.fromhex(message)
    slots = [bytes.fromhex(slot) for slot in golden["slots"].values()]
    yield b"".join(slots)
    # Phases within steps, as a training writes them; the first byte says how many.
    yield b"\x0c" + b"".join(slots[at] for at in (0, 0, 4, 0, 1, 4, 0, 3, 4, 0, 2, 4))[1:]


def configs():
    yield b'# a node\nserver = "https://monitor:8443"\ninterval = \'250ms\'\nno-output = true\nlog-metric = ["a=([0-9]+)", \'b\']\n'
    yield b'interval = 5\n"server" = """\nhttp://h"""\n'
    yield from (b"[run]\nserver = 'x'", b"server.a = 1", b"[[a]]", b"interval = 1979-05-27T07:32:00Z", b"server = 'a'\nserver = 'b'")
    yield from (b"log-metric = " + b"[" * 40, b"a = {b = {c = 0x1f}}", b'server = "\\u0000\\uD800"', b"\xef\xbb\xbfinterval = inf", b"socket = '/s'")
    yield from (b"[[[", b"a = [}", b"\xc3\xa9 = 1", b"a" + b".a" * 200 + b" = 1")  # toml++ 3.4 fails on these, or with more dots


def answers():
    def answer(*headers, body=b"", status="200 OK"):
        return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode() + body

    text = b"{\"accepted\": 7}"
    yield b"\0" + answer(f"Content-Length: {len(text)}", body=text)
    yield b"\2" + answer("Connection: close", body=text)
    yield b"\0" + answer("Transfer-Encoding: chunked", body=chunks(text, 4))
    yield b"\1" + answer("Transfer-Encoding: chunked", body=chunks(text * 99, 90))
    yield b"\0" + answer(status="100 Continue") + answer("Retry-After: 7", "Content-Length: 0", status="503 Busy")
    yield b"\0" + answer(status="204 No Content") + answer(status="500 No")
    yield b"\3" + answer("Content-Length: 5", "Content-Length: 6", body=text)
    yield b"\0\x15\x03\x01\0\2\2\x46"


def spools():
    def record(kind, number, payload):
        checked = struct.pack("<BQqqQ", kind, number, START_US, START_US + 1, 3) + payload
        return struct.pack("<II", len(payload), wire.crc32c(checked)) + checked

    head = record(1, 1, b"STEPSPOOL1" + bytes(16) + struct.pack("<q", START_US) + wire.text("mlp") + wire.text("n1") + wire.text("http://a"))
    frame, lost = record(2, 1, b"frame"), record(3, 2, struct.pack("<Q", 9) + b"dropped")
    yield b"\0" + head + frame + lost
    yield b"\0" + head + frame[:-1] + lost + b"\0" * 50
    yield b"\1" + head + frame


def secrets():
    yield b"train.py\0--token\0abc\0--lr=0.1\0WANDB_API_KEY=0123456789abcdef"
    yield b"bash\0-c\0export A_KEY=x; curl -u me:word https://u:p/w@h/x?sig=0a1b2c3d4e5f60718293"
    yield b'{"api_key": "abc", "password":\t"two words"} Authorization: Bearer abcdefghijklmnop'
    yield b"AKIAIOSFODNN7EXAMPLE https://hooks.slack.com/services/T0/B0/XX -----BEGIN RSA PRIVATE KEY-----"
    yield b"://@:/@@://\0=\0--=\0token\0:token=\0'secret'"


def traces():
    def span(cat, name, start, duration, **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, "args": args}

    events = [
        span("user_annotation", "ProfilerStep#7", 0, 300),
        span("cpu_op", "aten::mm", 10, 20, **{"External id": 5, "Input Dims": [[2, 3]]}),
        span("cuda_runtime", "cudaLaunchKernel", 15, 2, correlation=9),
        span("kernel", "sgemm", 50, 20.5, correlation=9, device=0, stream=7, grid=[1, 2, 3]),
        span("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 80, 2, correlation=10, device=0, bytes=4096),
        {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 20, "args": {"Bytes": 64, "Total Allocated": 64, "Device Type": 1, "Device Id": 0}},
    ]
    text = json.dumps({"baseTimeNanoseconds": 17, "distributedInfo": {"rank": 3}, "traceEvents": events})
    yield text.encode()
    yield packed(text.encode())
    yield packed(text.encode())[:150]
    yield json.dumps(events).encode()[:-1]
    yield text.replace("aten::mm", 'f("a", b)').encode()
    yield text.replace("20.5", "NaN").replace("sgemm", "C:\\x").encode()
    yield b'{"traceName": "/tmp/a]\n", "traceEvents": [{"ph": "X", "ts": }, ' + text.encode()
    yield xplane()
    names = [{"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}} for pid, name in ((2, "CANN"), (3, "Ascend Hardware"))]
    names.append({"ph": "M", "name": "thread_name", "pid": 3, "tid": 7, "args": {"name": "Stream 2"}})
    halves = [{"ph": phase, "name": "step", "pid": 1, "tid": 1, "ts": at} for phase, at in (("B", 1), ("B", 2), ("E", 5), ("E", 9), ("E", 10))]
    work = [{"ph": "X", "name": "task", "pid": pid, "tid": 7, "ts": f"{pid}0", "dur": 2, "args": {"connection_id": 4}} for pid in (2, 3)]
    yield json.dumps([*names, *halves, *work, {}]).encode() + b"[]"


def xplane():
    """A profile of JAX: a step of a host, and a kernel."""

    def varint(value):
        head = b""
        while value >= 128:
            head, value = head + bytes([value & 127 | 128]), value >> 7
        return head + bytes([value])

    def field(number, value):
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        return varint(number << 3 | 2) + varint(len(value)) + value

    def name(key, text):
        return field(1, key) + field(2, field(1, key) + field(2, text))

    def line(number, text, *events):
        return field(3, field(1, number) + field(2, text) + field(3, 1_795_205_614_000_000_000) + b"".join(events))

    def event(number, start_ps, length_ps, stats=b""):
        return field(4, field(1, number) + field(2, start_ps) + field(3, length_ps) + stats)

    step = event(1, 0, 900_000_000, field(4, field(1, 5) + field(4, 12)))
    host = field(2, b"/host:CPU") + line(7, b"python", step, event(2, 5_000_000, 90_000)) + field(4, name(1, b"train")) + field(4, name(2, b"cuLaunchKernel")) + field(5, name(5, b"step_num"))
    device = field(2, b"/device:GPU:0") + line(13, b"Stream #13(Compute)", event(1, 30_000_000, 40_000_000)) + field(4, name(1, b"fusion"))
    return field(1, host) + field(1, device) + field(4, b"host-1")


TARGETS = {"spool": spools, "trace": traces, "secrets": secrets, "request": requests, "answer": answers, "body": bodies, "inflate": inflations, "query": queries, "url": urls, "token": tokens,
           "json": jsons, "samples": samples, "frame": frames, "column": columns, "summary": summaries,
           "marks": marks, "config": configs}


def main():
    if len(sys.argv) > 1:
        print(__doc__)
        return
    for target, seeds in TARGETS.items():
        folder = HERE / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds(), 1):
            (folder / f"seed-{number:02}").write_bytes(seed)


if __name__ == "__main__":
    main()
