"""A dump of a running service, restored elsewhere, is the same service: its jobs, charts, rules, webhooks and their secrets."""

import json
import os
import re
import stat
import subprocess
import sys

import pytest

from tests.fault.law import under_law
from tests.fault.pusher import Healthy, IdleGpus
from tests.support.postgres import Postgres, programs
from tests.support.service import ROOT, Service, program, wait_for

sys.path.insert(0, str(ROOT / "scripts"))
from webhook_receiver import Receiver  # noqa: E402


def server(*words, **options):
    return subprocess.run([program("stepscope-server"), *map(str, words)], capture_output=True, text=True, timeout=120, **options)


def push(pusher, count):
    """Frames up to number `count`, in order."""
    while pusher.acknowledged < count:
        status, answer = pusher.push(pusher.acknowledged + 1, min(50, count - pusher.acknowledged))
        assert status == 200 and answer["rejected"] == []
        pusher.acknowledged = answer["acknowledged"]


def shown(service):
    """All that people see: the list, each job, its rules, charts and findings, and the webhooks."""
    paths = ["/api/v1/jobs", "/api/v1/webhooks"]
    for job in ("live", "judged"):
        paths += [f"/api/v1/jobs/{job}", f"/api/v1/jobs/{job}/findings", f"/api/v1/jobs/{job}/metrics?points=500"]
    answers = {path: service.get(path) for path in paths}
    assert {status for status, _ in answers.values()} == {200}, answers
    # The address differs, and the job that runs has grown older.
    return re.sub(r'"duration_seconds": 3\d{3}\.\d+', "", json.dumps(answers, indent=1).replace(service.url, "")).splitlines()


@pytest.fixture
def listener():
    receiver = Receiver(say=lambda line: None)
    yield receiver
    receiver.close()


@pytest.fixture
def service(folder):
    with under_law(Service(folder, "--webhook-allow", "127.0.0.1/32", database="private")) as started:
        yield started


def fill(service, listener):
    """A job that has ended with a finding, and one that still runs; a webhook that was told of the first."""
    listener.secret = service.request("POST", "/api/v1/webhooks", {"url": listener.url})[1]["secret"]
    rules = [{"rule": "CPUBottleneck", "parameters": {"patience": 0}}]
    for job in ("judged", "live"):
        assert service.request("POST", "/api/v1/jobs", {"name": job, "configuration": {"rules": rules if job == "judged" else []}})[0] == 201
    judged, live = IdleGpus(service, "judged"), Healthy(service, "live")
    push(judged, 400)
    judged.finish()
    push(live, 200)
    wait_for(lambda: service.get("/api/v1/jobs/judged")[1]["profiler_rule_evaluation_statuses"][0]["rule_evaluation_status"] == "IssuesFound", "the finding")
    wait_for(lambda: service.sql("select count(*) from rule_tasks where state <> 'done'") == [["0"]], "the last turn of the rule")
    wait_for(lambda: service.sql("select count(*) from deliveries where state <> 'delivered'") == [["0"]], "all is told")
    return live


def test_a_dump_of_a_running_service_is_restored_as_the_same_service(service, folder, listener):
    live = fill(service, listener)
    before = shown(service)
    dump = folder / "day.dump"
    done = server("dump", "--data-dir", service.data_dir, dump)
    assert done.returncode == 0 and str(dump) in done.stderr, done.stderr
    assert [stat.S_IMODE(path.stat().st_mode) for path in (dump, folder / "day.dump.key")] == [0o600, 0o600]
    assert sorted(path.name for path in folder.glob("day.dump*")) == ["day.dump", "day.dump.key"]
    acknowledged = live.acknowledged
    push(live, acknowledged + 50)  # behind the dump
    service.stop()

    (folder / "new").mkdir(mode=0o711)
    again = Service(folder / "new", "--webhook-allow", "127.0.0.1/32", database="private")
    done = server("restore", "--data-dir", again.data_dir, dump)
    assert done.returncode == 0 and "restored 2 jobs" in done.stderr, done.stderr
    with under_law(again):
        assert shown(again) == before
        check_goes_on(again, live, acknowledged, listener)


def check_goes_on(service, live, acknowledged, listener):
    """An agent that is ahead of the dump is told from where to send again; the webhook's secret still opens."""
    live.service = service
    status, answer = live.push(live.acknowledged + 1, 1)
    assert status == 409 and answer["code"] == "gap" and answer["expected"] == acknowledged + 1
    ahead, live.acknowledged = live.acknowledged, acknowledged
    push(live, ahead + 10)
    heard = len(listener.messages)
    (webhook,) = service.get("/api/v1/webhooks")[1]["items"]
    assert service.request("POST", f"/api/v1/webhooks/{webhook['id']}/test", {})[0] in (200, 202)
    wait_for(lambda: len(listener.messages) > heard, "a message with a valid signature")


def test_a_stopped_service_is_dumped_too_and_goes_into_a_server_of_ones_own(service, folder):
    assert service.request("POST", "/api/v1/jobs", {"name": "kept"})[0] == 201
    service.stop()
    done = server("dump", "--data-dir", service.data_dir, folder / "day.dump")
    assert done.returncode == 0, done.stderr
    (folder / "postgres").mkdir()
    postgres = Postgres(folder / "postgres").start()
    try:
        environment = {**os.environ, "STEPSCOPE_DATABASE_URL": postgres.url}
        done = server("restore", "--data-dir", folder / "elsewhere", folder / "day.dump", env=environment)
        assert done.returncode == 0, done.stderr
        assert postgres.sql("select name from jobs") == [["kept"]]
        assert (folder / "elsewhere/webhook.key").read_bytes() == (service.data_dir / "webhook.key").read_bytes()
    finally:
        postgres.stop()


def test_what_cannot_be_done_is_said_and_leaves_all_as_it_is(service, folder):
    assert service.request("POST", "/api/v1/jobs", {"name": "kept"})[0] == 201
    dump, other = folder / "day.dump", folder / "other"
    here = ("--data-dir", service.data_dir)
    empty = folder / "empty"
    empty.mkdir()
    (folder / "broken.dump").write_bytes(b"PGDMP nothing of a dump")

    def refused(*words):
        done = server(*words)
        assert done.returncode != 0
        return done.stderr

    assert server("dump", *here, dump).returncode == 0
    before = dump.read_bytes()
    assert "is there already" in refused("dump", *here, dump) and dump.read_bytes() == before
    assert "there is no folder" in refused("dump", *here, folder / "none/day.dump")
    assert "holds no database" in refused("dump", "--data-dir", empty, other) and list(empty.iterdir()) == []
    assert "no pg_dump of PostgreSQL" in refused("dump", *here, "--pg-bindir", empty, other)
    assert "one file is wanted" in refused("dump", *here)
    assert "has tables already" in refused("restore", *here, dump)
    assert "cannot be read" in refused("restore", "--data-dir", other, folder / "none.dump")
    said = refused("restore", "--data-dir", other, folder / "broken.dump")
    assert "pg_restore failed (exit code 1): pg_restore: error:" in said
    (other / "webhook.key").write_text("another")
    assert "is another key" in refused("restore", "--data-dir", other, dump)
    assert service.get("/api/v1/jobs/kept")[0] == 200
    assert sorted(path.name for path in folder.glob("*.part")) == []


EVIL = """
create function run() returns void language plpgsql as $$ begin copy (select 1) to program 'cat > {witness}'; end $$;
create function evil(x integer) returns integer language plpgsql immutable as $$ begin perform public.run(); return x; end $$;
create table bait (x integer);
insert into bait values (1);
create index bait_evil on bait (evil(x));
"""


@pytest.mark.parametrize("ours", [False, True])
def test_a_program_in_a_foreign_dump_does_not_run(folder, ours):
    """The function of an index runs while the index is made. Where the dump has our table as well, it runs as a role that may not."""
    for name in ("witness", "postgres"):
        (folder / name).mkdir()
        (folder / name).chmod(0o777)
    witness = folder / "witness/ran"
    postgres = Postgres(folder / "postgres").start()
    try:
        postgres.sql(EVIL.format(witness=witness) + ("create table schema_migrations (x integer)" if ours else ""))
        assert witness.exists(), "the index runs it, for a superuser"
        witness.unlink()
        dump = folder / "evil.dump"
        subprocess.run([programs() / "pg_dump", "-Fc", "-f", dump, postgres.url], check=True)
    finally:
        postgres.stop()
    done = server("restore", "--data-dir", folder / "data", dump)
    assert done.returncode != 0 and not witness.exists(), done.stderr
    assert ("pg_execute_server_program" if ours else "is no dump of this service") in done.stderr


@pytest.mark.parametrize("command", ["dump", "restore"])
def test_help_has_examples(command):
    done = server(command, "--help")
    assert done.returncode == 0 and f"stepscope-server {command} --data-dir" in done.stdout
