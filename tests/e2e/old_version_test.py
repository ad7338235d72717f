"""What the version before left on disk works with this one: the dump of a service, its data folder, and the spool of an agent.

make_old_dump.py made the files of data/ with the programs of that version. They hold a job that has ended with findings, one
that still runs (with blocks, frames, and saved states of every rule), one with an annotation and a window, a webhook and a token.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.e2e.make_old_dump import statuses
from tests.e2e.spool_test import flush, stored_bytes, ticks
from tests.fault.law import under_law
from tests.support import wire
from tests.support.service import ROOT, Service, program, wait_for

sys.path.insert(0, str(ROOT / "scripts"))
from webhook_receiver import Receiver  # noqa: E402

OLD = ROOT / "tests/e2e/data/version_0.1.0"
KEPT = json.loads(OLD.with_name(f"{OLD.name}.json").read_text())
# Nothing is removed for its age: the samples get older with the files.
FOR_EVER = ("--keep-samples", "0", "--keep-jobs", "0")
# Nothing is judged, and no frame becomes part of a block.
AT_REST = (*FOR_EVER, "--evaluators", "0", "--compaction-interval", "5m")
WEBHOOKS = ("--webhook-allow", "127.0.0.1/32")
# Answers that differ from the old ones, each with its reason.
DIFFERS = {
    "/api/v1/jobs/running/report as_of": "the time at which it is asked for",
    "/api/v1/jobs/running/report as_of_us": "the time at which it is asked for",
    "/api/v1/jobs items.0.duration_seconds": "the job still runs",
    "/api/v1/jobs items.0.median_step_seconds": "the steps of the last ten minutes",
    "/api/v1/jobs/running/report summary.duration_seconds": "the job still runs",
    "/api/v1/jobs/running/report summary.initialisation.percent": "its share of a job that still runs",
    "/api/v1/jobs/running/report summary.training_loop.percent": "its share of a job that still runs",
    **{f"/api/v1/jobs items.{item}.mean_{part}_util_percent": "from the first step to the last" for item in (0, 1) for part in ("cpu", "gpu")},
    **{f"/api/v1/jobs/{job}/report method": "phases of a job are the diagnosis's" for job in ("finished", "running", "marked")},
}
# Words of the catalog, which a newer version may put otherwise.
WORDS = re.compile(r"/api/v1/rules items\..*\.(sentence|fires|advice|help)|/api/v1/jobs/\w+/report rules\..*\.(looks_for|help)")
NEW_TICKS = 20


def by_name(rows):
    """Rules and parameters by their names, or None: a newer version may have more of them, at any place."""
    named = isinstance(rows, list) and rows != [] and all(isinstance(row, dict) and "name" in row and row.keys() & {"fires", "help"} for row in rows)
    return {row["name"]: row for row in rows} if named else None


def differences(old, new, place=""):
    """Where `new` lacks or changes something of `old`; a newer version may answer more."""
    if by_name(old) and by_name(new) and len(by_name(old)) == len(old):
        yield from differences(by_name(old), by_name(new), place)
    elif isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            yield from differences(value, new.get(key, "missing"), f"{place}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new)):
            yield from differences(one, other, f"{place}.{number}")
    elif old != new:
        yield place[1:], old, new


def changed_answers(service, paths):
    found = {}
    for path in paths:
        status, answer = service.get(path)
        assert status == 200, (path, answer)
        answer = json.loads(json.dumps(answer).replace(service.url, ""))
        for place, old, new in differences(KEPT["answers"][path], answer):
            if f"{path} {place}" not in DIFFERS and not WORDS.fullmatch(f"{path} {place}"):
                found[f"{path} {place}"] = (old, new)
    return found


@pytest.fixture
def restored(folder):
    """A service at rest with what the old one held."""
    service = Service(folder, *AT_REST, *WEBHOOKS, database="private")
    for kind in ("dump", "dump.key"):
        shutil.copyfile(f"{OLD}.{kind}", folder / f"old.{kind}")
    (folder / "old.dump.key").chmod(0o600)
    done = subprocess.run(
        [program("stepscope-server"), "restore", "--data-dir", service.data_dir, folder / "old.dump"], capture_output=True, text=True, timeout=120,
    )
    assert done.returncode == 0 and "restored 3 jobs" in done.stderr, done.stderr
    with under_law(service):
        yield service


def restart(service, *options):
    service.stop()
    service.options = options
    service.start()


def test_a_restored_service_answers_as_the_old_one_did(restored):
    assert changed_answers(restored, KEPT["answers"]) == {}


def test_frames_of_the_old_version_become_blocks_that_say_the_same(restored):
    waiting = "select count(*) from frames where kind in (1, 2, 6)"
    assert restored.sql(waiting) != [["0"]]
    restored.sql("update compact_tasks set due_us = 0")  # the next turn of the job that runs is minutes away in new files
    restart(restored, *FOR_EVER, "--evaluators", "0", "--compaction-interval", "100ms")
    wait_for(lambda: restored.sql(waiting) == [["0"]], "no frame waits")
    # A mean that is made of sums rounds its last digit otherwise.
    assert {place: pair for place, pair in changed_answers(restored, KEPT["answers"]).items() if not nearly_equal(*pair)} == {}


def nearly_equal(old, new):
    numbers = isinstance(old, (int, float)) and isinstance(new, (int, float))
    return numbers and abs(old - new) <= 1e-9 * max(abs(old), abs(new))


def push_ticks(service, count):
    """More ticks in the session of the agent of the job that runs, behind its last one."""
    ((session, stored, node),) = service.sql(
        "select encode(session, 'hex'), stored, n.name from streams s join nodes n using (job_id, node_id) join jobs j using (job_id) where j.name = 'running'"
    )
    ((last_us,),) = service.sql("select max(to_us) from frames join jobs using (job_id) where kind = 1 and name = 'running'")
    columns = wire.schema([("at_us", ""), ("cpu_util_percent", "0"), ("gpu_util_percent", "gpu0")])
    frames = []
    for number in range(1, count + 1):
        row = wire.row([int(last_us) + number * 500_000, 900 + number, 400 + number], [0, 2, 2])
        frames.append(
            wire.frame(wire.TICKS, bytes.fromhex(session), int(stored) + number, int(last_us), "running", node, row, columns, wire.schema_hash(columns))
        )
    status, answer = service.request("POST", "/api/v1/ingest/frames", wire.push(frames), "application/vnd.stepscope.frames")
    assert status == 200 and answer["rejected"] == [] and answer["acknowledged"] == int(stored) + count, answer


def samples_seen(service):
    """How many samples of the running job the rule has folded that sums up how busy a node was."""
    for rule in service.get("/api/v1/jobs/running/rules")[1]["items"]:
        if rule["rule_configuration_name"] == "OverallSystemUsage":
            return int(re.search(r"over ([\d,]+) samples", rule["verdict"]["sentence"])[1].replace(",", ""))
    return None


def test_rules_go_on_from_the_states_that_the_old_version_saved(restored):
    before, seen = statuses(restored, "running"), samples_seen(restored)
    push_ticks(restored, NEW_TICKS)
    restored.sql("delete from webhooks")  # nobody listens there any more, which the log would say
    ((now_us,),) = restored.sql("select (extract(epoch from clock_timestamp()) * 1000000)::bigint")
    logged = restored.log.stat().st_size
    restart(restored, *FOR_EVER)
    late = f"select count(*) from rule_states join jobs using (job_id) where name = 'running' and evaluated_us < {now_us}"
    wait_for(lambda: restored.sql(late) == [["0"]], "every rule is judged again")
    wait_for(lambda: samples_seen(restored) == seen + NEW_TICKS, "the samples of both versions are counted")
    after = statuses(restored, "running")
    assert after.keys() == before.keys() and "Error" not in after.values()
    assert [rule for rule, status in before.items() if status == "IssuesFound" and after[rule] != status] == []
    assert restored.sql("select error from rule_tasks where error <> ''") == []
    lines = restored.log.read_text()[logged:].splitlines()
    # What ProfilerReport counts has become another: it begins with what is stored.
    log = "\n".join(line for line in lines if "ProfilerReport: state: 'loop'" not in line)
    assert "judged anew" not in log and not re.search(r"^\S+ stepscope-server (?:warning|error) ", log, re.MULTILINE), log


def test_webhooks_and_tokens_of_the_old_version_open(restored):
    receiver = Receiver(say=lambda line: None)
    receiver.secret = KEPT["webhook_secret"]
    try:
        restored.sql(f"update webhooks set url = '{receiver.url}'")
        restored.sql("update tokens set expires_us = 4102444800000000")  # no token lasts as long as these files
        restart(restored, *AT_REST, *WEBHOOKS, "--require-tokens")
        assert restored.get("/api/v1/webhooks")[0] == 401
        restored.token = KEPT["token"]
        (webhook,) = restored.get("/api/v1/webhooks")[1]["items"]
        assert restored.request("POST", f"/api/v1/webhooks/{webhook['id']}/test", {})[0] in (200, 202)
        wait_for(lambda: receiver.messages, "a message with a valid signature")
    finally:
        receiver.close()


def test_a_spool_that_the_old_agent_left_is_delivered(service, folder):
    subprocess.run(["tar", "-xzf", f"{OLD}.spool.tar.gz", "-C", folder, "--no-same-owner"], check=True)
    spool = folder / "spool"
    assert stored_bytes(spool) > 0
    done = flush(service, spool, "--all")  # it was meant for another address
    assert done.returncode == 0 and "nothing is left" in done.stdout, done.stdout + done.stderr
    ((_, _, _, count),) = ticks(service, "spooled")
    assert count >= 10 and stored_bytes(spool) == 0
    job = service.get("/api/v1/jobs/spooled")[1]
    assert job["nodes"][0]["name"] == "node-1" and job["status"] == "InProgress"


@pytest.mark.skipif(not os.environ.get("STEPSCOPE_OLD_BUILD"), reason="a cluster takes 40 MB: STEPSCOPE_OLD_BUILD names no build folder of the version before")
def test_a_data_folder_of_the_old_version_is_opened(folder, monkeypatch):
    service = Service(folder, *FOR_EVER, database="private")
    with monkeypatch.context() as old:
        old.setenv("STEPSCOPE_BUILD", os.environ["STEPSCOPE_OLD_BUILD"])
        service.start()
        assert service.request("POST", "/api/v1/jobs", {"name": "kept"})[0] == 201
        before = service.get("/api/v1/jobs/kept")
        service.stop()
    with under_law(service):
        assert list(differences(before[1], service.get("/api/v1/jobs/kept")[1])) == []
