"""The page on the real service that demands tokens: signing in, tokens, and texts that try to be more than text."""

import os
import re
import shutil
import subprocess

import pytest

from tests.support.service import ROOT, Service, program

BROWSER = ROOT / "tests/browser"

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="Node is not here")


@pytest.fixture
def guarded(folder):
    """(service, token of an admin)"""
    service = Service(folder, "--require-tokens").start()
    command = [program("stepscope-server"), "token", "create", "--role", "admin", "--name", "root", "--data-dir", str(service.data_dir)]
    yield service, subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()
    service.stop()


def in_browser(test, service, token):
    if not (BROWSER / "node_modules").exists():
        pytest.skip("npm --prefix tests/browser ci was not run")
    environment = {**os.environ, "STEPSCOPE_URL": service.url, "STEPSCOPE_TOKEN": token}
    out = subprocess.run(["node", "--test", test], cwd=BROWSER, capture_output=True, text=True, timeout=600, env=environment)
    assert out.returncode == 0, (out.stdout + out.stderr)[-20_000:]
    assert re.search(r"\bpass [1-9]", out.stdout) and re.search(r"\bskipped 0\b", out.stdout), out.stdout


def test_people_sign_in_and_out_and_admins_rule_tokens(guarded):
    in_browser("real_access_test.mjs", *guarded)


def test_texts_from_outside_stay_texts_on_every_page(guarded):
    in_browser("real_xss_test.mjs", *guarded)
