"""Fixtures of the end to end tests."""

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fault.law import under_law
from tests.support.service import Service


@contextmanager
def passable_folder():
    """Not tmp_path: started by root, PostgreSQL runs as another user, who must get through."""
    made = Path(tempfile.mkdtemp(prefix="stepscope-e2e-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def folder():
    with passable_folder() as made:
        yield made


@pytest.fixture
def service(folder):
    with under_law(Service(folder)) as started:
        yield started
