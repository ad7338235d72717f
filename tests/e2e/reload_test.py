"""SIGHUP reads the TLS files again, and never ends the program."""

import http.client
import os
import resource
import signal
import socket
import ssl
import subprocess

import pytest

from tests.support.service import Service, program, wait_for


class TlsService(Service):
    """A service with certificates of its own making."""

    def __init__(self, folder):
        self.files = folder / "tls"
        self.make_certificate()
        super().__init__(folder, "--tls-cert", str(self.files / "server.crt"), "--tls-key", str(self.files / "server.key"))

    def make_certificate(self):
        command = [program("stepscope-server"), "tls", "self-signed", "--out", str(self.files), "--force"]
        subprocess.run(command, check=True, capture_output=True, timeout=30)

    def connect(self):
        client = ssl._create_unverified_context().wrap_socket(socket.create_connection(("127.0.0.1", self.port), 10))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port)
        connection.sock = client
        return connection

    def shown(self):
        """The certificate that a new connection sees."""
        connection = self.connect()
        try:
            return connection.sock.getpeercert(binary_form=True)
        finally:
            connection.close()

    def ready(self):
        try:
            connection = self.connect()
        except OSError:
            return False
        try:
            return status_of(connection) == 200
        finally:
            connection.close()

    def hang_up(self, sentence):
        before = self.log.read_text().count(sentence)
        os.kill(self.process.pid, signal.SIGHUP)
        wait_for(lambda: self.log.read_text().count(sentence) > before, f"a line with {sentence!r}", 30)


def status_of(connection):
    connection.request("GET", "/readyz")
    answer = connection.getresponse()
    answer.read()
    return answer.status


@pytest.fixture
def tls_service(folder):
    started = TlsService(folder).start()
    yield started
    started.stop()


def test_new_connections_get_the_new_certificate_and_old_ones_go_on(tls_service):
    old, before = tls_service.connect(), tls_service.shown()
    tls_service.make_certificate()
    assert tls_service.shown() == before
    tls_service.hang_up("new connections get them")
    assert tls_service.shown() != before
    assert status_of(old) == 200


def test_a_bad_file_is_named_and_the_old_ones_stay(tls_service):
    before = tls_service.shown()
    (tls_service.files / "server.key").write_text("no key")
    tls_service.hang_up("the TLS files stay as they were")
    assert str(tls_service.files / "server.key") in tls_service.log.read_text()
    assert tls_service.shown() == before
    assert tls_service.ready()


def test_without_tls_there_is_nothing_to_read(service):
    os.kill(service.process.pid, signal.SIGHUP)
    wait_for(lambda: "nothing to read again" in service.log.read_text(), "a line about the signal", 30)
    assert service.ready()


@pytest.fixture
def few_open_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_shell_with_few_open_files_does_not_hold_the_service_down(few_open_files, service):
    soft, hard = resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE)
    assert soft == hard > 512
