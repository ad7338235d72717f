"""Fixtures of the fault tests."""

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.support.service import Service


@pytest.fixture
def folder():
    """Not tmp_path: started by root, PostgreSQL runs as another user, who must get through."""
    made = Path(tempfile.mkdtemp(prefix="stepscope-fault-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def service(folder):
    started = Service(folder).start()
    yield started
    started.stop()
