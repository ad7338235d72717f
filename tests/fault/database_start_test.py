"""A service that is started before its PostgreSQL, as orchestrators do it: it says so, waits, and serves."""

import signal

import pytest

from tests.fault.faulty import await_pushes, pushing
from tests.fault.law import check_law
from tests.fault.replicas import Replica
from tests.support.postgres import Postgres
from tests.support.service import wait_for


@pytest.fixture
def postgres(folder):
    (folder / "postgres").mkdir()
    made = Postgres(folder / "postgres").start()
    made.stop()
    yield made
    made.stop()


@pytest.fixture
def waiting(folder, postgres):
    service = Replica(folder / "service", postgres)
    service.spawn()
    wait_for(lambda: "waiting: database:" in service.log.read_text(), "it says what it waits for")
    yield service
    service.stop()


def test_serves_as_soon_as_the_database_is_up(waiting, postgres):
    postgres.run()
    wait_for(waiting.ready, "service ready")
    assert postgres.sql("select count(*) from schema_migrations") != [["0"]]
    with pushing(waiting, "late") as pushers:
        await_pushes(pushers, 20)
    check_law(waiting, pushers)


def test_ends_at_once_when_told_to_while_it_waits(waiting):
    waiting.process.send_signal(signal.SIGTERM)
    assert waiting.process.wait(10) == 1
    assert waiting.log.read_text().count("waiting: database:") == 1


def test_ends_with_the_reason_when_nobody_comes(folder, postgres):
    service = Replica(folder / "service", postgres)
    service.options = (*service.options, "--database-wait", "1s")
    service.spawn()
    assert service.process.wait(20) == 1
    assert "stepscope-server: database: connection to server" in service.log.read_text()
