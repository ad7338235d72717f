"""Shared by the tests of packages: the build, and the packages that cpack made of it."""

import subprocess
from pathlib import Path

import pytest

from tests.support.service import program


def make(*targets):
    """Builds targets of the build whose programs are tested; returns its folder."""
    build = Path(program("stepscope-agent")).parent
    done = subprocess.run(["cmake", "--build", build, "--target", *targets], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    return build


@pytest.fixture(scope="session")
def build():
    return make("stepscope-agent", "stepscope-agent-portable")


@pytest.fixture(scope="session")
def packages():
    """The folder with the packages of the build."""
    return make("packages") / "packages"
