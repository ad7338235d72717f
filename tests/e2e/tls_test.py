"""The service over TLS with tokens, set up and used as docs/tls.md and docs/access.md say."""

import os
import signal
import socket
import ssl
import subprocess

import pytest

from tests.e2e.conftest import passable_folder
from tests.support.service import Service, program, wait_for


def server_command(*words):
    """Standard output of `stepscope-server words`."""
    done = subprocess.run([program("stepscope-server"), *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Secure:
    """A service with an authority of its own, and the files that agents get."""

    def __init__(self, folder):
        self.folder, self.tls = folder, folder / "tls"
        self.make_certificate()
        self.service = Service(
            folder, "--require-tokens", "--tls-cert", str(self.tls / "server.crt"), "--tls-key", str(self.tls / "server.key"),
            "--client-ca", str(self.tls / "ca.crt"), ca_file=str(self.tls / "ca.crt"),
        )

    def make_certificate(self, *options):
        server_command("tls", "self-signed", "--out", self.tls, "--host", "127.0.0.1", *options)

    def token(self, role, name):
        return server_command("token", "create", "--role", role, "--name", name, *self.service.at).strip()

    def token_file(self, name, text):
        path = self.folder / f"{name}.token"
        path.touch(mode=0o600)
        path.write_text(text + "\n")
        return path

    def agent(self, job, *options, script):
        words = [program("stepscope-agent"), "run", "--server", self.service.url, "--job", job, "--push", "1s", *map(str, options)]
        return subprocess.run([*words, "--", "sh", "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def described(self, job):
        """describe-job, once the job has ended."""
        def ended():
            code, answer = self.service.get(f"/api/v1/jobs/{job}")
            return answer if code == 200 and answer["status"] != "InProgress" else None

        return wait_for(ended, f"{job} has ended")

    def certificate(self):
        """The certificate that a new connection gets, in DER."""
        with socket.create_connection(("127.0.0.1", self.service.port), timeout=15) as plain:
            with self.service.trust.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
                return connection.getpeercert(binary_form=True)


@pytest.fixture(scope="module")
def secure():
    with passable_folder() as folder:
        made = Secure(folder)
        made.service.start()
        made.service.token = made.token("reader", "tests")
        yield made
        made.service.stop()


def test_a_command_is_profiled_over_tls_with_a_token(secure):
    ca, token = secure.tls / "ca.crt", secure.token_file("agent", secure.token("agent", "team"))
    done = secure.agent("safe", "--ca-file", ca, "--token-file", token, script="sleep 2; exit 3")
    assert done.returncode == 3, done.stderr
    assert secure.described("safe")["failure"]["exit_code"] == 3
    assert token.read_text().strip() not in done.stderr + secure.service.log.read_text()


def test_an_agents_token_is_enough_to_find_a_free_name(secure):
    words = ["--ca-file", secure.tls / "ca.crt", "--token-file", secure.token_file("agent", secure.token("agent", "team"))]
    for name in ("again", "again-2"):
        done = secure.agent("again", *words, script="echo $STEPSCOPE_JOB")
        assert done.stdout == f"{name}\n", done.stderr
        assert secure.described(name)["status"] == "Completed"
    assert "job again has ended before: this run is again-2" in done.stderr


def test_without_a_token_nothing_is_told(secure, monkeypatch):
    monkeypatch.setattr(secure.service, "token", None)
    assert secure.service.get("/api/v1/jobs")[0] == 401


def test_a_token_from_the_environment_is_the_agents_alone(secure, monkeypatch):
    monkeypatch.setenv("STEPSCOPE_TOKEN", secure.token("agent", "team"))
    monkeypatch.setenv("STEPSCOPE_CA_FILE", str(secure.tls / "ca.crt"))
    done = secure.agent("environment", script="env; exit 0")
    assert done.returncode == 0 and "STEPSCOPE_JOB=environment" in done.stdout
    assert "STEPSCOPE_TOKEN" not in done.stdout
    assert secure.described("environment")["status"] == "Completed"


def test_a_certificate_of_the_node_is_as_good_as_a_token(secure):
    server_command("tls", "agent-cert", "--ca", secure.tls, "--node", "node-1", "--out", secure.folder)
    files = ["--cert", secure.folder / "agent-node-1.crt", "--key", secure.folder / "agent-node-1.key"]
    done = secure.agent("certified", "--ca-file", secure.tls / "ca.crt", "--node", "node-1", *files, script="exit 0")
    assert done.returncode == 0, done.stderr
    assert secure.described("certified")["status"] == "Completed"


def test_a_service_that_is_not_trusted_costs_the_command_nothing(secure):
    token = secure.token_file("agent", secure.token("agent", "team"))
    server_command("tls", "self-signed", "--out", secure.folder / "other", "--host", "127.0.0.1")
    ca = secure.folder / "other/ca.crt"
    done = secure.agent("untrusted", "--ca-file", ca, "--token-file", token, script="sleep 1; echo done; exit 4")
    assert done.returncode == 4 and done.stdout == "done\n"
    assert "the certificate of '127.0.0.1' is not trusted" in done.stderr
    assert f"it is not signed by the CA in '{ca}'" in done.stderr
    assert secure.service.get("/api/v1/jobs/untrusted")[0] == 404


def test_a_wrong_token_costs_the_command_nothing(secure):
    ca, token = secure.tls / "ca.crt", secure.token_file("agent", secure.token("agent", "team")[:-1] + "-")
    done = secure.agent("refused", "--ca-file", ca, "--token-file", token, script="sleep 1; echo done; exit 4")
    assert done.returncode == 4 and done.stdout == "done\n"
    warnings = [line for line in done.stderr.splitlines() if "the service does not take samples" in line]
    assert len(warnings) == 1 and "token" in warnings[0]
    assert token.read_text().strip() not in done.stderr
    assert secure.service.get("/api/v1/jobs/refused")[0] == 404


def test_a_token_of_another_role_sends_nothing(secure):
    token = secure.token_file("reader", secure.service.token)
    done = secure.agent("reading", "--ca-file", secure.tls / "ca.crt", "--token-file", token, script="exit 0")
    assert done.returncode == 0 and "the service does not take samples" in done.stderr
    assert secure.service.get("/api/v1/jobs/reading")[0] == 404


# The last one: it leaves a bad file behind.
def test_a_hangup_puts_a_new_certificate_to_use_and_a_bad_one_aside(secure):
    before = secure.certificate()
    secure.make_certificate("--force")
    os.kill(secure.service.process.pid, signal.SIGHUP)
    wait_for(lambda: secure.certificate() != before, "the new certificate")
    renewed = secure.certificate()
    (secure.tls / "server.crt").write_text("junk")
    os.kill(secure.service.process.pid, signal.SIGHUP)
    wait_for(lambda: "the TLS files stay as they were" in secure.service.log.read_text(), "the complaint")
    assert secure.certificate() == renewed
    assert secure.service.get("/readyz")[0] == 200
    with pytest.raises(ssl.SSLError):
        ssl.create_default_context().wrap_socket(socket.create_connection(("127.0.0.1", secure.service.port)), server_hostname="127.0.0.1")
