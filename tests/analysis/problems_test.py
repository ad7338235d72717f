"""Problems: each is an exception that says what went wrong and where to look."""

import http.server
import json
import os
import socket
import subprocess
import sys
import threading

import pytest

from tests.analysis.conftest import Client, Problem, Unreachable
from tests.e2e.conftest import passable_folder
from tests.support.service import ROOT, Service, free_port, program


@pytest.fixture
def answering():
    """A server that gives the answers of a test, in turn: (status, headers, body)."""
    answers, asked = [], []

    class Scripted(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, dict(self.headers)))
            status, headers, body = answers.pop(0)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    server.answers, server.asked, server.url = answers, asked, f"http://127.0.0.1:{server.server_port}"
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_unknown_job_is_named_with_the_id_of_the_request(client):
    with pytest.raises(Problem) as caught:
        client.job("nobody").steps()
    problem = caught.value
    assert (problem.status, problem.code, problem.title) == (404, "not-found", "Not found")
    assert len(problem.request_id) == 16
    assert all(word in str(problem) for word in ("Not found", "job nobody not found", problem.request_id))


@pytest.mark.parametrize("call, detail", [
    (lambda job: job.system_metrics("no_such_metric"), "there is no metric 'no_such_metric'"),
    (lambda job: job.system_metrics("node_cpu_percent", node="elsewhere"), "the job has no node 'elsewhere'"),
    (lambda job: job.system_metrics("node_cpu_percent", points=8001), "points"),
    (lambda job: job.steps(rank=7), "the job has no rank 7"),
    (lambda job: job.correlate("no_such_metric"), "there is no metric 'no_such_metric'"),
    (lambda job: job.heatmap("no_such_metric"), "there is no metric 'no_such_metric'"),
    (lambda job: job.findings(rule=""), "rule"),
])
def test_what_a_call_cannot_have_is_said(training, call, detail):
    with pytest.raises(Problem, match=detail) as caught:
        call(training)
    assert caught.value.status == 400 and caught.value.errors[0]["parameter"]


def test_names_cannot_leave_their_place_in_the_path(client):
    with pytest.raises(Problem) as caught:
        client.job("../tokens?x=1").describe()
    assert caught.value.status in (400, 404)


def token(service, role):
    command = [program("stepscope-server"), "token", "create", "--role", role, "--name", role, "--data-dir", service.data_dir]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


def test_tokens_are_shown_and_come_from_the_environment(monkeypatch, tmp_path):
    with passable_folder() as folder:
        guarded = Service(folder, "--require-tokens").start()
        try:
            reader, agent = token(guarded, "reader"), token(guarded, "agent")
            assert Client(guarded.url, token=reader).jobs().empty
            for wrong, status, word in ((None, 401, "token"), ("st_reader_" + "x" * 30, 401, "token"), (agent, 403, "")):
                with pytest.raises(Problem, match=word) as caught:
                    Client(guarded.url, token=wrong).jobs()
                assert caught.value.status == status and caught.value.request_id
            monkeypatch.setenv("STEPSCOPE_SERVER", guarded.url)
            monkeypatch.setenv("STEPSCOPE_TOKEN", reader)
            assert Client().jobs().empty
            (tmp_path / "agent.token").write_text(agent + "\n")
            monkeypatch.setenv("STEPSCOPE_TOKEN_FILE", str(tmp_path / "agent.token"))  # it goes first
            with pytest.raises(Problem):
                Client().jobs()
        finally:
            guarded.stop()


def test_over_tls_it_believes_the_certificates_it_is_given(monkeypatch):
    with passable_folder() as folder:
        subprocess.run([program("stepscope-server"), "tls", "self-signed", "--out", folder / "tls", "--host", "127.0.0.1"], check=True, capture_output=True)
        files = {name: str(folder / "tls" / name) for name in ("server.crt", "server.key", "ca.crt")}
        secure = Service(folder, "--tls-cert", files["server.crt"], "--tls-key", files["server.key"], ca_file=files["ca.crt"]).start()
        try:
            assert Client(secure.url, ca_file=files["ca.crt"]).jobs().empty
            with pytest.raises(Unreachable, match="(?i)certificate"):
                Client(secure.url).jobs()
            monkeypatch.setenv("STEPSCOPE_CA_FILE", files["ca.crt"])
            assert Client(secure.url).jobs().empty
        finally:
            secure.stop()


def test_without_an_address_nothing_is_asked(monkeypatch):
    monkeypatch.delenv("STEPSCOPE_SERVER", raising=False)
    for wrong in (None, "127.0.0.1:8080", "ftp://host", "http://"):
        with pytest.raises(ValueError):
            Client(wrong)


def test_a_token_does_not_travel_in_the_clear():
    with pytest.raises(ValueError, match="in the clear"):
        Client("http://monitor:8080", token="st_reader_x")
    Client("http://monitor:8080", token="st_reader_x", insecure_http=True)
    Client("http://monitor:8080")


def test_a_service_that_is_away_is_unreachable():
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(Unreachable, match=f"{url} does not answer: .*refused"):
        Client(url).jobs()


def test_a_service_that_says_nothing_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(Unreachable, match="timed out"):
            Client(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2).job("one").describe()


def test_a_busy_service_is_asked_again_when_it_says(answering):
    empty = json.dumps({"items": [], "next": None, "total": 0}).encode()
    answering.answers += [(503, {"Retry-After": "0"}, b""), (429, {"Retry-After": "0"}, b""), (200, {"Content-Type": "application/json"}, empty)]
    assert Client(answering.url).jobs().empty and len(answering.asked) == 3


def test_one_that_stays_busy_is_a_problem(answering):
    body = json.dumps({"title": "Busy", "status": 503, "detail": "the database is away", "request_id": "5f0c2b1a9d3e4f60"}).encode()
    answering.answers += [(503, {"Retry-After": "0", "Content-Type": "application/problem+json"}, body)] * 9
    with pytest.raises(Problem, match="the database is away"):
        Client(answering.url).jobs()
    assert len(answering.asked) == 5
    answering.asked.clear()
    answering.answers[:] = [(503, {"Retry-After": "3600"}, b"")]  # nobody waits for so long
    with pytest.raises(Problem):
        Client(answering.url).jobs()
    assert len(answering.asked) == 1


@pytest.mark.parametrize("answer, word", [
    ((200, {"Content-Type": "text/html"}, b"<h1>Please sign in</h1>"), "Not an answer of a Stepscope service.*sign in"),
    ((502, {"Content-Type": "text/html"}, b"<h1>Bad Gateway</h1>"), "Bad Gateway.*status 502"),
    ((302, {"Location": "http://127.0.0.1:9/elsewhere"}, b""), "status 302"),
    ((404, {"Content-Type": "application/problem+json"}, b"[1]"), "status 404"),
    ((404, {"Content-Type": "application/problem+json"}, b"{"), "status 404"),
])
def test_answers_of_others_are_problems(answering, answer, word):
    answering.answers.append(answer)
    with pytest.raises(Problem, match=word):
        Client(answering.url, token="st_reader_x").jobs()
    assert len(answering.asked) == 1  # a redirect is not followed: the token stays here


@pytest.mark.parametrize("body", [b"{", b"\xff"])
def test_a_broken_answer_is_one_too(answering, body):
    answering.answers.append((200, {"Content-Type": "application/json"}, body))
    with pytest.raises(Problem, match="Not an answer"):
        Client(answering.url).jobs()


@pytest.mark.parametrize("answer", [
    (200, {"Content-Type": "text/html"}, b"<!DOCTYPE html><h1>Please sign in</h1>"),
    (200, {"Content-Type": "application/json"}, b"{}"),
    (404, {"Content-Type": "application/problem+json"}, b'{"title": "Not found"}'),
])
def test_what_is_no_report_replaces_none(answering, answer, tmp_path):
    (tmp_path / "report.html").write_text("an older one")
    answering.answers.append(answer)
    with pytest.raises(Problem):
        Client(answering.url).job("one").report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == "an older one" and answering.asked[0][1]["Accept"] == "text/html"


def test_an_answer_that_ends_early_is_unreachable(answering):
    answering.answers.append((200, {"Content-Type": "application/json", "Connection": "close"}, b'{"items"'))
    answering.RequestHandlerClass.send_header = _claim_more(answering.RequestHandlerClass.send_header)
    with pytest.raises(Unreachable):
        Client(answering.url).jobs()


def _claim_more(send_header):
    return lambda self, name, value: send_header(self, name, "999" if name == "Content-Length" else value)


WITHOUT_PANDAS = """
import sys
sys.modules["pandas"] = None
try:
    import stepscope.analysis
except ModuleNotFoundError as missing:
    print(missing)
"""
BY_ITSELF = """
import sys
import stepscope
print(sorted(name for name in sys.modules if name.startswith(("stepscope.analysis", "pandas", "urllib", "http"))))
"""


def say(code):
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=variables, timeout=60).stdout


def test_without_pandas_it_says_what_to_install():
    assert "stepscope.analysis needs pandas" in say(WITHOUT_PANDAS) and "pip install pandas" in say(WITHOUT_PANDAS)


def test_the_marks_do_not_import_it():
    assert say(BY_ITSELF) == "[]\n"
