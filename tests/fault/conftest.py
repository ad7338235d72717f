"""Fixtures of the fault tests."""

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.fault.law import under_law
from tests.fault.replicas import Listener
from tests.support.postgres import Postgres
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
    with under_law(Service(folder)) as started:
        yield started


@pytest.fixture
def private_service(folder):
    """With its private PostgreSQL also where there is a cluster: its processes are the matter."""
    with under_law(Service(folder, database="private")) as started:
        yield started


@pytest.fixture
def postgres(folder):
    """A PostgreSQL for services that share it."""
    (folder / "postgres").mkdir()
    running = Postgres(folder / "postgres").start()
    yield running
    running.stop()


@pytest.fixture
def listener():
    """A listener for webhooks."""
    receiver = Listener()
    yield receiver
    receiver.close()
