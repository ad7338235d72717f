"""Traps in heads: too large, doubly meant, or meant for somebody else."""

import resource
import time

from bench.edge.traps_bodies import MEGABYTE, alive, cost, pour, told
from tests.support.raw_http import RawClient, request


def endless_heads(side):
    said, held = [], True
    kinds = (("a line of 500 MB", b"GET /", b"a" * MEGABYTE, 500), ("a header of 300 MB", b"GET / HTTP/1.1\r\nX: ", b"a" * MEGABYTE, 300),
             ("2 million headers", b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"a:b\r\n" * 50_000, 10))
    for name, head, piece, megabytes in kinds:
        before = side.peak_megabytes()
        answer, sent = pour(side, head, piece, megabytes * MEGABYTE, b"\r\n\r\n")
        memory, small = cost(side, before)
        said.append(f"{name}: {told(answer)} after {sent / MEGABYTE:.0f} MB, {memory}")
        held = held and small
    return "; ".join(said), held and alive(side)


def range_bomb(side):
    before, began = side.peak_megabytes(), time.monotonic()
    ranges = "bytes=0-" + ",0-" * 2_499
    answer = side.get(side.large, 20, [("Range", ranges)])
    memory, small = cost(side, before)
    return f"{told(answer)} after {time.monotonic() - began:.1f} s, {memory}", small and alive(side)


def long_path(side):
    """Asks for a long path of a server that was started with `ulimit -s unlimited`, as HPC hosts have it."""
    side.stop()
    side.start(stack=resource.RLIM_INFINITY)
    answer = side.get(side.named + "a" * 8_100)
    return side.end_word() or told(answer), alive(side)


def answers_of(side, *segments):
    """All answers to what is sent in these segments."""
    with RawClient(side.port) as client:
        for segment in segments:
            client.send(segment)
            time.sleep(0.1)  # so that they arrive apart
        client.end_sending()
        return client.read_to_end(6)[0]


def hidden_requests(side):
    inner = request("GET", side.small)
    outer = request("GET", "/no-such-thing", [("Content-Length", str(len(inner)))])
    smuggled = len(answers_of(side, outer, inner))
    piped = len(answers_of(side, request("GET", side.small) * 3))
    said = f"a request in the body of a GET: {smuggled} answers; 3 requests in one segment: {piped} answers"
    return said, smuggled == 1 and piped == 3


FRAMINGS = (
    ("two lengths", "Content-Length: 5\r\nContent-Length: 3\r\n", b"abcde"),
    ("both", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", b"5\r\nabcde\r\n0\r\n\r\n"),
    ("`abc`", "Content-Length: abc\r\n", b"abc"),
    ("`+5`", "Content-Length: +5\r\n", b"abcde"),
    ("chunk `0x5`", "Transfer-Encoding: chunked\r\n", b"0x5\r\nabcde\r\n0\r\n\r\n"),
    ("chunk `-2`", "Transfer-Encoding: chunked\r\n", b"-2\r\nab\r\n0\r\n\r\n"),
    ("chunk `5zzz`", "Transfer-Encoding: chunked\r\n", b"5zzz\r\nabcde\r\n0\r\n\r\n"),
)


def framings(side):
    said, held = [], True
    for name, framing, body in FRAMINGS:
        began = time.monotonic()
        with RawClient(side.port) as client:
            client.send(f"POST {side.body} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {side.body_type}\r\n{framing}\r\n".encode() + body)
            answer = client.read_answer(10)
        took = time.monotonic() - began
        said.append(f"{name}: {told(answer)}" + (f" after {took:.0f} s" if took > 1 else ""))
        held = held and bool(answer) and answer.status in (400, 411) and took < 1
    return "; ".join(said), held


def altered_headers(side):
    odd = [("Authorization", "Bearer ab%63"), ("X-Probe", "a%0d%0aSet-Cookie: x=1"), ("REMOTE_ADDR", "10.0.0.1")]
    line_feed = answers_of(side, b"GET / HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n")
    bare = f"a bare LF: {told(line_feed[0] if line_feed else None)}"
    if side.name == "stock":
        seen = side.get("/headers", headers=odd).body.decode()
        altered = ["`ab%63` arrives as `abc`"] if "abc" in seen else []
        altered += ["`%0d%0a` as a line end"] if "a\r\nSet-Cookie" in seen else []
        altered += ["the client's REMOTE_ADDR is believed"] if "10.0.0.1" in seen else []
        return "; ".join([*altered, bare]), not altered
    answer = side.get("/api/v1/jobs", headers=odd)
    refused = bool(line_feed) and line_feed[0].status == 400
    return f"{told(answer)}, taken as they are; {bare}", bool(answer) and answer.status == 200 and refused


ODD_PATHS = ("../secret", "%2e%2e/secret", "..%2fsecret", "..%5csecret", "....//secret", "..;/secret", "%252e%252e/secret", "%c0%ae%c0%ae/secret", ".env", "link",
             "ok.txt%00.png", "index/../../secret", "./.env", "//etc/passwd")


def odd_paths(side):
    if side.name == "stock":
        folder = side.folder / "static"
        (side.folder / "secret").write_text("secret")
        (folder / "ok.txt").write_text("fine")
        (folder / ".env").write_text("secret")
        if not (folder / "link").exists():
            (folder / "link").symlink_to(side.folder / "secret")
    served = []
    for prefix in ("/static/", "/", "/assets/", "/static"):
        for path in ODD_PATHS:
            answer = side.get(prefix + path)
            if answer and answer.status == 200:
                served.append(prefix + path)
    return f"{len(served)} of {4 * len(ODD_PATHS)} served" + (": " + ", ".join(f"`{path}`" for path in served) if served else ""), not served


TRAPS = (
    ("T7", "a request line of 500 MB, a header of 300 MB, 2 million headers", endless_heads),
    ("T8", "`Range: bytes=0-,0-,...` 2,500 times on a large answer", range_bomb),
    ("T9", "a path of 8,100 characters, started under `ulimit -s unlimited`", long_path),
    ("T15", "a request hidden in the body of another; three in one segment", hidden_requests),
    ("T16", "bodies whose length can be read in two ways", framings),
    ("T17", "headers with `%63`, `%0d%0a`, a foreign REMOTE_ADDR, a bare LF", altered_headers),
    ("T24", "paths that try to leave the folder of static files", odd_paths),
)
