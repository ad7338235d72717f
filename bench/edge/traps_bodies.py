"""Traps in bodies: too large, packed, nested, or not what they say."""

import time
import zlib

from tests.support.raw_http import RawClient, request

MEGABYTE = 1 << 20
SEND_SECONDS = 60.0  # for one large thing
GROWTH = 64  # megabytes that one request may cost


def pour(side, head, piece, most, end=b""):
    """Sends a head and then pieces until `most` bytes are out or the other side ends it; (answer, bytes taken)."""
    with RawClient(side.port, seconds=10) as client:
        client.send(head)
        sent, until = 0, time.monotonic() + SEND_SECONDS
        while sent < most and time.monotonic() < until and client.send(piece):
            sent += len(piece)
        if sent >= most:
            client.send(end)
        return client.read_answer(20), sent


def cost(side, before):
    peak = side.peak_megabytes()
    return (f"peak {peak} MB", peak - before <= GROWTH) if peak else (f"the server {side.end_word()}", False)


def told(answer):
    return f"{answer.status}" if answer else "no answer"


def alive(side):
    return not side.end_word() and side.seconds_to_answer(10) is not None


def large_bodies(side):
    said, held = [], True
    chunk = b"100000\r\n" + b"x" * MEGABYTE + b"\r\n"
    kinds = (("declared", ("Content-Length", str(1 << 30)), b"x" * MEGABYTE, b""), ("chunked", ("Transfer-Encoding", "chunked"), chunk, b"0\r\n\r\n"))
    for name, framing, piece, end in kinds:
        before = side.peak_megabytes()
        answer, sent = pour(side, request("POST", side.body, [("Content-Type", side.body_type), framing]), piece, 1 << 30, end)
        memory, small = cost(side, before)
        said.append(f"{name}: {told(answer)} after {sent // MEGABYTE:,} MB, {memory}")
        held = held and small and sent < 1 << 30
        if side.end_word():
            break
    return "; ".join(said), held and alive(side)


def bomb(unpacked_bytes):
    """A gzip stream of zeros; its blocks repeat, so it costs nothing to make. The check sum at its end is wrong."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + block * (unpacked_bytes // MEGABYTE) + b"\x03\0" + b"\0" * 8


def gzip_bomb(side):
    body, before = bomb(7 << 30), side.peak_megabytes()
    head = request("POST", side.body, [("Content-Type", side.body_type), ("Content-Encoding", "gzip"), ("Content-Length", str(len(body)))])
    began = time.monotonic()
    answer, sent = None, 0
    with RawClient(side.port, seconds=SEND_SECONDS) as client:
        client.send(head)
        for at in range(0, len(body), 1 << 16):
            if not client.send(body[at : at + (1 << 16)]):
                break
            sent += 1 << 16
        answer = client.read_answer(SEND_SECONDS)
    memory, small = cost(side, before)
    took = time.monotonic() - began
    return f"{told(answer)} after {min(sent, len(body)) / MEGABYTE:.1f} of {len(body) / MEGABYTE:.1f} MB and {took:.1f} s, {memory}", small and alive(side)


def post_json(side, body, seconds=20):
    with RawClient(side.port, seconds=seconds) as client:
        client.send(request("POST", side.json, [("Content-Type", "application/json")], body))
        return client.read_answer(seconds)


def deep_json(side):
    answer = post_json(side, b'{"name":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    return side.end_word() or told(answer), alive(side)


ODD_JSON = (("1e400", b'{"name":1e400}'), ("NaN", b'{"name":NaN}'), ("invalid UTF-8", b'{"name":"\xff\xfe-mine"}'), ("a lone surrogate", b'{"name":"\\ud800"}'),
            ("400 digits", b'{"name":' + b"9" * 400 + b"}"))


def odd_json(side):
    said, held = [], True
    for name, body in ODD_JSON:
        answer = post_json(side, body)
        leaks = bool(answer) and "exception_what" in answer.headers
        said.append(f"{name}: {told(answer)}" + (" with the library's words in a header" if leaks else ""))
        held = held and bool(answer) and answer.status == 400 and not leaks
    return "; ".join(said), held and alive(side)


def costly_json(side):
    before = side.peak_megabytes()
    answer = post_json(side, b"[" + b"{}," * (7 * MEGABYTE // 3) + b"{}]")
    memory, small = cost(side, before)
    return f"{told(answer)}, {memory}", small and alive(side)


TRAPS = (
    ("T5", "a body of 1 GB, declared and in chunks; the stock server's limit is set to 8 MB", large_bodies),
    ("T6", "7 MB of gzip that unpack to 7 GB", gzip_bomb),
    ("T10", "JSON nested 100,000 deep", deep_json),
    ("T11", "JSON with 1e400, NaN, invalid UTF-8, a lone surrogate, a number of 400 digits", odd_json),
    ("T12", "7 MB of `[{},{},...]`", costly_json),
)
