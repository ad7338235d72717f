"""The traps of docs/traps.md in the order of that page: what catches a stock server must not catch the service."""

import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from bench.edge.traps_bodies import ODD_JSON
from bench.edge.traps_heads import FRAMINGS, ODD_PATHS
from tests.fault import abuse_bombs
from tests.fault.abuse import make_frames, peak_memory_bytes, result
from tests.fault.law import check_law, under_law
from tests.support.raw_http import RawClient, request
from tests.support.service import SANITIZED, Service, program, use_all_descriptors, wait_for

GROWTH = 64 << 20  # bytes of memory that one trap may cost
PUSH = "/api/v1/ingest/frames"
FRAMES = ("Content-Type", "application/vnd.stepscope.frames")
JSON = ("Content-Type", "application/json")


@pytest.fixture(scope="module")
def shared():
    """A service for all traps that leave it as it was."""
    use_all_descriptors()
    folder = Path(tempfile.mkdtemp(prefix="stepscope-traps-"))
    folder.chmod(0o711)
    started = Service(folder).start()
    yield started
    started.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def lives_on(request):
    """Whatever was thrown, the service answers afterwards."""
    yield
    if "shared" in request.fixturenames:
        service = request.getfixturevalue("shared")
        assert service.process.poll() is None, service.log.read_text()[-2000:]
        assert service.get("/healthz")[0] == 200
        check_law(service)


def address(number):
    return f"127.5.{number // 1000}.{1 + number // 20 % 50}"


def asked(service, data, answers=1):
    """The answers to bytes over one connection, so many of them; None for one that does not come."""
    with RawClient(service.port) as client:
        client.send(data)
        return [client.read_answer() for _ in range(answers)]


def statuses(service, data, answers=1):
    return [answer and answer.status for answer in asked(service, data, answers)]


def closed(clients):
    for client in clients:
        client.socket.close()


def throw(service, kind, status):
    """A bomb of the abuse test, alone: how it is answered, and that it costs little memory."""
    before = peak_memory_bytes(service.process.pid)
    assert abuse_bombs.throw(service.port, kind(large_path(service)), "127.0.0.1") == status
    assert SANITIZED or peak_memory_bytes(service.process.pid) - before <= GROWTH


def large_path(service):
    return re.search(r'src="(/[^"]+\.js)"', service.get("/")[1])[1]


def test_t1_idle_connections_keep_nobody_out(shared):
    idle = [RawClient(shared.port, address(number)) for number in range(500)]
    for client in idle[::2]:
        client.send(request("GET", "/healthz"))
    assert shared.get("/api/v1/jobs")[0] == 200
    assert all(client.is_open() for client in idle)
    closed(idle)


def test_t2_honest_agents_are_all_served(shared, folder):
    make_frames(folder / "frames", "agents", 10)
    words = ["--port", shared.port, "--frames", folder / "frames", "--every-ms", 500, "--seconds", 60]
    pushed = result(subprocess.Popen([program("bench/agents"), *map(str, words)], stdout=subprocess.PIPE), 90)
    assert (pushed["starved_agents"], pushed["answered"], pushed["other"]) == (0, pushed["due"], {})


@pytest.mark.parametrize("words", [b"GET / HTTP/1.1\r\nX: ", request("POST", PUSH, [FRAMES, ("Content-Length", "1000")])], ids=["heads", "bodies"])
def test_t3_who_drips_is_ended_and_holds_nobody_up(shared, words):
    slow = [RawClient(shared.port, address(number)) for number in range(8)]
    assert all(client.send(words) for client in slow)
    assert shared.get("/api/v1/jobs")[0] == 200

    def drip():
        return not any(client.send(b"x") and client.is_open() for client in slow)

    wait_for(drip, "slow connections are ended", 60, 0.5)
    closed(slow)


def test_t4_who_does_not_read_holds_nobody_up(shared):
    deaf = [RawClient(shared.port, address(number), receive_buffer=4096) for number in range(8)]
    for client in deaf:
        client.send(request("GET", large_path(shared)) * 20)
    assert shared.get("/api/v1/jobs")[0] == 200
    closed(deaf)


@pytest.mark.parametrize("kind", [abuse_bombs.declared, abuse_bombs.chunked])
def test_t5_a_body_of_a_gigabyte_is_refused_as_it_comes(shared, kind):
    throw(shared, kind, 413)


def test_t6_a_bomb_is_unpacked_no_further_than_allowed(shared):
    throw(shared, abuse_bombs.packed, 413)


def test_t7_an_endless_head_is_refused_as_it_comes(shared):
    throw(shared, abuse_bombs.headers, 431)
    with RawClient(shared.port) as line, RawClient(shared.port) as header:
        line.send(b"GET /" + b"a" * (1 << 20))
        assert line.read_answer().status == 414
        header.send(b"GET / HTTP/1.1\r\nX: " + b"a" * (1 << 20))
        assert header.read_answer().status == 431


def test_t8_ranges_cost_nothing(shared):
    throw(shared, abuse_bombs.ranges, 200)


def test_t9_a_long_path_needs_no_stack(folder):
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (hard, hard))  # `ulimit -s unlimited`, as HPC hosts have it
    with under_law(Service(folder)) as service:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
        assert statuses(service, request("GET", "/api/v1/jobs/" + "a" * 8_100)) == [414]
        assert statuses(service, request("GET", "/api/v1/jobs/" + "a" * 2_000)) == [400]
        assert service.get("/healthz")[0] == 200


def test_t10_deep_json_is_refused(shared):
    deep = b'{"name":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert statuses(shared, request("POST", "/api/v1/jobs", [JSON], deep)) == [400]


@pytest.mark.parametrize("body", [body for _, body in ODD_JSON], ids=[name for name, _ in ODD_JSON])
def test_t11_odd_json_is_refused_and_not_said_back(shared, body):
    (answer,) = asked(shared, request("POST", "/api/v1/jobs", [JSON], body))
    assert (answer.status, answer.type) == (400, "application/problem+json")
    everything = repr(answer.headers).encode() + answer.body
    assert b"mine" not in everything and b"9" * 20 not in everything
    assert not any("exception" in name for name in answer.headers)


def test_t12_json_that_costs_much_memory_is_refused(shared):
    before = peak_memory_bytes(shared.process.pid)
    for size, status in ((7 << 20, 413), (250_000, 400)):
        assert statuses(shared, request("POST", "/api/v1/jobs", [JSON], b"[" + b"{}," * (size // 3) + b"{}]")) == [status]
    assert SANITIZED or peak_memory_bytes(shared.process.pid) - before <= GROWTH


def test_t14_no_error_of_accept_ends_the_service(folder, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", program("tests/libaccept_faults.so"))
    monkeypatch.setenv("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0")
    with under_law(Service(folder)) as service:
        monkeypatch.undo()  # the environment was for the service alone
        assert "every fault of accept4 was had" in service.log.read_text()
        assert service.get("/api/v1/jobs")[0] == 200


def test_t15_a_body_is_never_read_as_a_request(shared):
    hidden = request("GET", "/healthz")
    with RawClient(shared.port) as client:
        client.send(request("GET", "/no-such-thing", [("Content-Length", str(len(hidden)))]))
        first = client.read_answer()
        client.send(hidden)
        client.end_sending()
        assert (first.status, client.read_to_end()) == (400, ([], True))
    assert statuses(shared, request("GET", "/healthz") * 3, 3) == [200, 200, 200]


@pytest.mark.parametrize("framing, body", [each[1:] for each in FRAMINGS], ids=[each[0] for each in FRAMINGS])
def test_t16_a_length_that_can_be_read_in_two_ways_is_refused(shared, framing, body):
    with RawClient(shared.port) as client:
        client.send(f"POST {PUSH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {FRAMES[1]}\r\n{framing}\r\n".encode() + body + request("GET", "/healthz"))
        client.end_sending()
        answers, ended = client.read_to_end()
    assert ([answer.status for answer in answers], ended) == ([400], True)


def test_t17_headers_arrive_as_they_were_sent(folder):
    """The answer to a token with a `%63` in it shows whether headers are decoded."""
    service = Service(folder, "--require-tokens").start()
    words = ["token", "create", "--role", "reader", "--name", "me", *service.at]
    token = subprocess.run([program("stepscope-server"), *words], check=True, capture_output=True, text=True).stdout.strip()
    coded = token[:-1] + f"%{ord(token[-1]):02x}"
    for shown, status in ((token, 200), (coded, 401), (token + "%0d%0aX: y", 401)):
        odd = [("Authorization", f"Bearer {shown}"), ("X-Probe", "a%0d%0aSet-Cookie: x=1"), ("REMOTE_ADDR", "10.0.0.1")]
        (answer,) = asked(service, request("GET", "/api/v1/session", odd))
        assert answer.status == status and "set-cookie" not in answer.headers
    assert statuses(service, b"GET /healthz HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n") == [400]
    check_law(service)
    service.stop()


def test_t18_a_post_without_a_body_is_answered(shared):
    post = request("POST", "/api/v1/jobs", [JSON])
    assert statuses(shared, post + request("GET", "/healthz"), 2) == [400, 200]


def test_t19_who_has_ended_its_sending_side_is_answered(shared):
    with RawClient(shared.port) as client:
        client.send(request("GET", "/healthz"))
        client.end_sending()
        answers, ended = client.read_to_end()
    assert ([answer.status for answer in answers], ended) == ([200], True)


def test_t20_a_kept_connection_sends_each_answer_at_once(shared):
    with RawClient(shared.port) as client:
        for _ in range(1_000):
            client.send(request("GET", "/healthz"))
            assert client.read_answer().status == 200


def test_t21_a_second_service_on_the_port_is_refused(shared, folder):
    second = subprocess.run([program("stepscope-server"), "--listen", f"127.0.0.1:{shared.port}", "--data-dir", folder / "second"], capture_output=True, text=True, timeout=60)
    assert second.returncode == 1 and "is in use by another program" in second.stderr


def test_t23_slow_and_idle_connections_do_not_hold_up_the_end(folder):
    service = Service(folder).start()
    clients = [RawClient(service.port, address(number)) for number in range(68)]
    for number, client in enumerate(clients):
        client.send(b"GET / HTTP/1.1\r\nX" if number < 8 else request("GET", "/healthz"))
    assert all(client.read_answer().status == 200 for client in clients[8:])
    service.process.send_signal(signal.SIGTERM)
    wait_for(lambda: [client.send(b"x") for client in clients[:8]] and service.process.poll() is not None, "the service ends", 60, 0.2)
    assert service.process.returncode == 0
    closed(clients)
    check_law(service.start())
    service.stop()


def test_t24_paths_lead_nowhere(shared):
    for prefix in ("/static/", "/", "/assets/", "/static"):
        found = [path for path in ODD_PATHS for answer in asked(shared, request("GET", prefix + path)) if answer.status not in (400, 404)]
        assert found == [], f"below {prefix}"
