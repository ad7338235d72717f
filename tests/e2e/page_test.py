"""The page on the real service that demands tokens: signing in, tokens, and texts that try to be more than text."""

import subprocess

import pytest

from tests.e2e.browsing import in_browser
from tests.support.service import Service, program


def admin_token(service):
    command = [program("stepscope-server"), "token", "create", "--role", "admin", "--name", "root", *service.at]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


@pytest.fixture
def guarded(folder):
    service = Service(folder, "--require-tokens", "--webhook-allow", "203.0.113.0/24").start()
    yield service
    service.stop()


@pytest.fixture
def over_tls(folder, monkeypatch):
    files = folder / "tls"
    subprocess.run([program("stepscope-server"), "tls", "self-signed", "--out", str(files)], check=True, capture_output=True, timeout=30)
    monkeypatch.setenv("SSL_CERT_FILE", str(files / "ca.crt"))
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(files / "ca.crt"))
    service = Service(folder, "--require-tokens", "--tls-cert", str(files / "server.crt"), "--tls-key", str(files / "server.key"))
    service.url = f"https://127.0.0.1:{service.port}"
    yield service.start()
    service.stop()


def as_admin(test, service):
    in_browser(test, STEPSCOPE_URL=service.url, STEPSCOPE_TOKEN=admin_token(service))


def test_people_sign_in_and_out_and_admins_rule_tokens(guarded):
    as_admin("real_access_test.mjs", guarded)


def test_people_sign_in_over_tls(over_tls):
    as_admin("real_access_test.mjs", over_tls)


def test_texts_from_outside_stay_texts_on_every_page(guarded):
    as_admin("real_xss_test.mjs", guarded)


def test_the_report_of_a_job_is_reached_and_reads_well(guarded):
    as_admin("real_report_test.mjs", guarded)
