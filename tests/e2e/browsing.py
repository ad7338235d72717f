"""Pages of the real service in a browser: what a test of tests/browser does there."""

import os
import re
import shutil
import subprocess

import pytest

from tests.support.service import ROOT

BROWSER = ROOT / "tests/browser"


def in_browser(test, **environment):
    """Runs the file of that name; each of its tests must pass."""
    if not shutil.which("node"):
        pytest.skip("Node is not here")
    if not (BROWSER / "node_modules").exists():
        pytest.skip("npm --prefix tests/browser ci was not run")
    out = subprocess.run(["node", "--test", test], cwd=BROWSER, capture_output=True, text=True, timeout=600, env={**os.environ, **environment})
    assert out.returncode == 0, (out.stdout + out.stderr)[-20_000:]
    assert re.search(r"\bpass [1-9]", out.stdout) and re.search(r"\bskipped 0\b", out.stdout), out.stdout
