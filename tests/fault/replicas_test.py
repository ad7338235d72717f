"""Two services on one database: started together on an empty one, both used, judging and compacting, one killed at any moment. Each
does its share, none does the other's again, and what either acknowledged is stored."""

import os
import random

import pytest

from tests.fault.compacting import AT_ONCE, Compacting
from tests.fault.law import check_law
from tests.fault.pusher import IdleGpus, Pusher
from tests.fault.replicas import Either, Replica, start_together
from tests.support.service import ROOT, wait_for

SEED = int(os.environ.get("STEPSCOPE_SEED", "20261121"))
KILLS = int(os.environ.get("STEPSCOPE_REPLICA_KILLS", "8"))
JUDGED, RULE = "judged", "CPUBottleneck"
OF_JUDGED = f"where job_id = (select job_id from jobs where name = '{JUDGED}')"


@pytest.fixture
def replicas(folder, postgres):
    made = [Replica(folder / name, postgres, "--evaluators", "2", *AT_ONCE) for name in ("a", "b")]
    start_together(made)
    yield made
    for each in made:
        each.stop()


def prepare(replicas, listener):
    """A webhook, told to one replica, and a job with one rule, told to the other."""
    status, webhook = replicas[0].request("POST", "/api/v1/webhooks", {"url": listener.url})
    assert status == 201, webhook
    listener.secret = webhook["secret"]
    rules = [{"rule": RULE, "parameters": {"patience": 0}}]
    status, job = replicas[1].request("POST", "/api/v1/jobs", {"name": JUDGED, "configuration": {"rules": rules}})
    assert status == 201, job


def kill_one(replicas, pushers, dice, compacting):
    """Kills a replica at a random push, while both compact; the other goes on, and then the killed one comes back."""
    compacting.make_due()
    pushed = lambda: sum(each.acknowledged for each in pushers)
    broken = lambda: any(each.ended.is_set() for each in pushers)
    goal = pushed() + dice.randrange(200, 600)
    wait_for(lambda: pushed() > goal or broken(), "pushes before a kill", pause=0.001)
    victim, other = dice.sample(replicas, 2)
    victim.kill()
    goal = pushed() + 200
    wait_for(lambda: pushed() > goal or broken(), "the other takes pushes")
    compacting.make_due()
    assert other.get("/readyz")[0] == 200 and other.get(f"/api/v1/jobs/{JUDGED}")[0] == 200
    victim.start()


def rule_of(replica):
    return replica.get(f"/api/v1/jobs/{JUDGED}")[1]["profiler_rule_evaluation_statuses"][0]


def test_migrations_are_applied_once_by_replicas_that_start_together(replicas, postgres):
    names = [path.stem for path in sorted((ROOT / "migrations").glob("*.sql"))]
    logs = [each.log.read_text() for each in replicas]
    for number, name in enumerate(names, 1):
        line = f"migration {number}_{name[5:]} applied"
        assert sum(log.count(line) for log in logs) == 1, line
    assert postgres.sql("select count(*) from schema_migrations") == [[str(len(names))]]


def test_a_finding_that_must_last_is_told_once_by_whichever_replica_runs_then(replicas, listener, postgres):
    """The replica that judged it is killed while the message waits; a second finding is over before, with its job, and never told."""
    status, webhook = replicas[0].request("POST", "/api/v1/webhooks", {"url": listener.url, "after_seconds": 4, "events": ["rule.issues_found"]})
    assert status == 201, webhook
    listener.secret = webhook["secret"]
    rules = [{"rule": RULE, "parameters": {"patience": 0}}]
    both = Either(replicas, random.Random(SEED))
    jobs = [IdleGpus(both, name) for name in ("lasts", "ends")]
    for each in jobs:
        assert both.request("POST", "/api/v1/jobs", {"name": each.job, "configuration": {"rules": rules}})[0] == 201
        each.start()
    waiting = lambda: postgres.sql("select count(*) from deliveries where state = 'ready' and finding_of <> ''")
    try:
        wait_for(lambda: waiting() == [["2"]], "both findings wait", pause=0.01)
    finally:
        for each in jobs:
            each.ended.set()
        for each in jobs:
            each.join(30)
    jobs[1].finish()
    assert listener.events == {}, "nothing has lasted yet"
    replicas[0].kill()
    wait_for(lambda: listener.events, "the other replica tells")
    replicas[0].start()
    told = postgres.sql("select state, delivered_us - created_us >= 4000000 from deliveries order by state")
    assert told == [["dead", ""], ["delivered", "t"]], told
    assert list(listener.events.values()) == [("rule.issues_found", "lasts", RULE)]


def test_one_of_two_replicas_is_killed_and_nothing_is_lost_or_done_twice(replicas, listener, postgres):
    dice = random.Random(SEED)
    prepare(replicas, listener)
    both = Either(replicas, random.Random(SEED + 1))
    judged, others = IdleGpus(both, JUDGED), [Pusher(both, "killed"), Pusher(both, "other")]
    pushers = [judged, *others]
    compacting = Compacting(replicas[0])
    for each in pushers:
        each.start()
    try:
        for _ in range(KILLS):
            kill_one(replicas, pushers, dice, compacting)
        wait_for(lambda: rule_of(replicas[0])["rule_evaluation_status"] == "IssuesFound", "the rule has fired")
    finally:
        for each in pushers:
            each.ended.set()
        for each in pushers:
            each.join(30)
    assert min(both.served.values()) > 100, "both were used"
    ticks = judged.acknowledged - 1
    judged.finish()

    check_judged_once(replicas, postgres, ticks)
    check_told_once(listener, postgres)
    compacting.check()
    check_law(replicas[0], pushers)


def check_judged_once(replicas, postgres, ticks):
    """Each tick went into the verdict once, both replicas show the same, and the rule's status changed a step at a time."""
    judged = lambda: postgres.sql(f"select coalesce((verdict -> 'evidence' ->> 'judged')::bigint, 0) from rule_states {OF_JUDGED}")
    wait_for(lambda: judged() == [[str(ticks)]], f"{ticks} ticks are judged, a dead replica's lease of 30 s included")
    assert rule_of(replicas[0]) == rule_of(replicas[1])
    assert rule_of(replicas[0])["rule_evaluation_status"] == "IssuesFound"
    changes = postgres.sql(f"select version, status from status_transitions {OF_JUDGED} and rule_config_id > 0 order by version")
    statuses = [status for _, status in changes]
    assert [int(version) for version, _ in changes] == list(range(1, len(changes) + 1))
    assert statuses.count("IssuesFound") == 1, changes
    findings = postgres.sql(f"select from_us, to_us from findings {OF_JUDGED}")
    assert len(findings) == 1, f"one stretch of time, one finding: {findings}"


def check_told_once(listener, postgres):
    """Each event is once in the outbox and came under one number."""
    told = lambda: {("rule.issues_found", JUDGED, RULE), ("job.completed", JUDGED, "")} <= set(listener.events.values())
    wait_for(told, "the messages came")
    rows = postgres.sql(f"select event, count(*) from deliveries {OF_JUDGED} group by event")
    assert dict(rows)["rule.issues_found"] == "1" and dict(rows)["job.completed"] == "1", rows
    about = sorted(listener.events.values())
    assert about == sorted(set(about)), "told twice, under two numbers"
