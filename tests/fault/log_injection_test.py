"""Text from outside cannot write lines of the log, nor speak to the terminal that shows it."""

import re
import tempfile
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.fault.law import under_law
from tests.fault.pusher import COLUMNS, Pusher
from tests.support import wire
from tests.support.raw_http import RawClient, request
from tests.support.service import Service, wait_for

LINE = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3} stepscope-server (debug|info|warning|error) ")
FORGED = "2026-01-01T00:00:00.000 stepscope-server error forged"
ODD = {"CR": "\r", "LF": "\n", "CR LF": "\r\n", "ESC": "\x1b[2J\x1b[31m", "NUL": "\0", "BEL": "\x07", "DEL": "\x7f", "CSI": "\x9b31m", "bidi": "\u202e"}


@pytest.fixture(scope="module")
def service():
    with tempfile.TemporaryDirectory(prefix="stepscope-fault-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        with under_law(Service(folder, "--log-level", "debug")) as started:
            yield started


def percent(text):
    return quote(text, safe="")


def requests(odd):
    """The odd text in every place of a request that may come to be named in the log."""
    raw = f"x{odd}{FORGED}"
    json = ("Content-Type", "application/json")
    yield request("GET", f"/api/v1/jobs/{percent(raw)}")
    yield request("GET", f"/api/v1/jobs?name_contains={percent(raw)}&{percent(raw)}=1")
    yield f"GET /{raw} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    yield f"GE{odd}T{FORGED} / HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    yield f"GET / HTTP/1.1{odd}{FORGED}\r\nHost: localhost\r\n\r\n".encode()
    for name in ("Host", "Origin", "User-Agent", "Authorization", "Cookie", "X-Request-Id", "X-Forwarded-For", "Content-Type", "Accept-Encoding"):
        yield f"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n{name}: {raw}\r\nContent-Length: 2\r\n\r\n{{}}".encode()
        yield f"GET / HTTP/1.1\r\nHost: localhost\r\n{raw}: {name}\r\n\r\n".encode()
    escaped = "".join(f"\\u{ord(each):04x}" for each in raw)
    for member in ("name", "group", raw.encode("unicode_escape").decode().replace("\\x", "\\u00")):
        yield request("POST", "/api/v1/jobs", [json], f'{{"{member}":"{escaped}"}}'.encode())
    yield request("POST", "/api/v1/webhooks", [json], f'{{"url":"https://{escaped}.example.com/{escaped}"}}'.encode())


def push_with_names(service, odd):
    """A frame whose job, node, metric or facts hold the odd text."""
    pusher = Pusher(service, "named")
    columns = wire.schema([*COLUMNS[:1], (f"x{odd}{FORGED}", f"{odd}"), *COLUMNS[2:]])
    event = b'{"event":"%s","at_us":%d}' % (odd.encode(), pusher.begin_us)
    for job, node in ((f"x{odd}{FORGED}", "node-1"), ("named", f"x{odd}{FORGED}"), ("named", "node-1")):
        frames = [
            wire.frame(wire.LIFECYCLE, pusher.session, 1, pusher.begin_us, job, node, event),
            wire.frame(wire.TICKS, pusher.session, 2, pusher.begin_us, job, node, pusher.payload(2), columns, wire.schema_hash(columns)),
        ]
        service.request("POST", "/api/v1/ingest/frames", wire.push(frames), "application/vnd.stepscope.frames")


@pytest.mark.parametrize("kind", ODD)
def test_text_from_outside_stays_within_its_line_of_the_log(service, kind):
    odd = ODD[kind]
    before = len(service.log.read_bytes())
    for each in requests(odd):
        with RawClient(service.port) as client:
            client.send(each)
            client.end_sending()
            client.read_to_end(5)
    push_with_names(service, odd)
    last = f"the-last-{list(ODD).index(kind)}"
    service.get(f"/api/v1/jobs/{last}")
    wait_for(lambda: last.encode() in service.log.read_bytes(), "the log names the last request", 10)
    lines = service.log.read_bytes()[before:].split(b"\n")[:-1]
    if kind != "NUL":  # a NUL is refused wherever it stands, before anything is named
        assert any(b"forged" in line for line in lines), "the log does not name what was asked"
    # The address of the page is said on the same descriptor.
    assert [line for line in lines if not LINE.match(line) and not line.startswith(b"Stepscope is at ")] == []
    assert [line for line in lines if re.search(rb"[\x00-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]", line)] == []
