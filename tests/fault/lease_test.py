"""Evaluators killed, stopped past their lease, and PostgreSQL crashed while they judge: each tick goes into a verdict once, each
status changes once, and each change is told once."""

import os
import random
import signal
import threading
import time

import pytest

from tests.fault.faulty import stopped, tree
from tests.fault.law import check_law
from tests.fault.pusher import IdleGpus
from tests.fault.replicas import Replica, start_together
from tests.support.service import wait_for

SEED = int(os.environ.get("STEPSCOPE_SEED", "20261122"))
FAULTS = int(os.environ.get("STEPSCOPE_LEASE_FAULTS", "20"))
MOST_FAULTS = 5 * FAULTS  # until one has met an evaluation
LEASE_SECONDS = 1
TRAININGS = 8  # at once
TICKS = 250  # about so many in a job
FIRES = "CPUBottleneck"
RULES = [{"rule": FIRES, "parameters": {"patience": 0}}, *({"rule": name} for name in ("IOBottleneck", "IdleGPU", "OverallSystemUsage", "ProfilerReport"))]
CHANGES = "select name, rule_config_id, version, t.status from status_transitions t join jobs using (job_id) where rule_config_id > 0 order by 1, 2, 3"
JUDGED = f"""
    select j.name, (s.verdict -> 'evidence' ->> 'judged')::bigint, s.status, (select count(*) from findings f where (f.job_id, f.rule_config_id) = (s.job_id, s.rule_config_id))
    from rule_states s join rule_configs c using (job_id, rule_config_id) join jobs j using (job_id) where c.rule = '{FIRES}'"""
TOLD = "select event, coalesce(body::json -> 'data' ->> 'rule', ''), name, count(*) from deliveries join jobs using (job_id) group by 1, 2, 3"


class SteadyGpus(IdleGpus):
    """Pushes that leave the machine to the evaluators."""

    def take(self, *answered):
        super().take(*answered)
        time.sleep(0.1)


class Trainings(threading.Thread):
    """Runs one job after another, each judged while it runs and ended well."""

    def __init__(self, service, name):
        super().__init__(daemon=True)
        self.service, self.title = service, name
        self.pushers, self.fault = [], None
        self.ended = threading.Event()

    def run(self):
        try:
            while not self.ended.is_set():
                self.train(f"{self.title}-{len(self.pushers)}")
        except Exception as fault:  # shown by the test: a thread has nobody to tell
            self.fault = fault

    def train(self, job):
        create = lambda: self.asked("POST", "/api/v1/jobs", {"name": job, "configuration": {"rules": RULES}}) in (200, 201)
        wait_for(create, f"{job} is made")
        pusher = SteadyGpus(self.service, job)
        self.pushers.append(pusher)
        pusher.start()
        wait_for(lambda: pusher.acknowledged > TICKS or pusher.ended.is_set(), f"{job} trains", 120)
        pusher.ended.set()
        pusher.join(30)
        pusher.ticks = pusher.acknowledged - 1
        finish = lambda: self.finished(pusher)
        wait_for(finish, f"{job} ends")

    def finished(self, pusher):
        try:
            pusher.finish()
            return True
        except OSError:  # PostgreSQL was crashed: said again
            return False

    def asked(self, *words):
        try:
            return self.service.request(*words)[0]
        except OSError:
            return 0


@pytest.fixture
def replicas(folder, postgres):
    """The first takes pushes and judges nothing; the others judge."""
    judging = ("--evaluators", "3", "--evaluation-interval", "100ms", "--evaluation-lease", f"{LEASE_SECONDS}s")
    made = [Replica(folder / "intake", postgres, "--evaluators", "0"), *(Replica(folder / name, postgres, *judging) for name in ("a", "b"))]
    start_together(made)
    yield made
    for each in made:
        each.stop()


class Faults:
    """Faults of the evaluators. After each one both are alive, and the verdicts are counted that an evaluator threw away
    because the task was no longer its own."""

    def __init__(self, judges, postgres, dice):
        self.judges, self.postgres, self.dice = judges, postgres, dice
        self.fenced = 0

    def kill(self):
        victim = self.dice.choice(self.judges)
        self.fenced += fenced(victim)
        victim.kill()
        victim.start()

    def stop(self):
        victim = self.dice.choice(self.judges)
        with stopped([victim.process.pid]):
            time.sleep(LEASE_SECONDS + 0.7 + self.dice.random())

    def crash(self):
        """A backend dies, and with it all others."""
        for backend in self.dice.sample(tree(self.postgres.process.pid)[1:], 1):
            try:
                os.kill(backend, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_for(self.postgres.is_back, "PostgreSQL is there again")

    def met(self):
        """How many outcomes came too late and were thrown away."""
        return self.fenced + sum(map(fenced, self.judges))

    def strike(self):
        time.sleep(self.dice.random() / 2)
        self.dice.choice((self.kill, self.stop, self.stop, self.crash))()


def fenced(service):
    text = service.get("/metrics")[1]
    return sum(float(line.split()[1]) for line in text.splitlines() if line.startswith("stepscope_evaluation_conflicts_total"))


def test_evaluators_that_die_or_sleep_judge_everything_once(replicas, postgres, listener):
    intake, *judges = replicas
    status, webhook = intake.request("POST", "/api/v1/webhooks", {"url": listener.url})
    assert status == 201, webhook
    listener.secret = webhook["secret"]
    trainings = [Trainings(intake, f"training-{number}") for number in range(TRAININGS)]
    for each in trainings:
        each.start()
    faults = Faults(judges, postgres, random.Random(SEED))
    try:
        struck = 0
        while struck < FAULTS or (faults.met() == 0 and struck < MOST_FAULTS):
            faults.strike()
            struck += 1
            assert [each.fault for each in trainings if each.fault] == []
    finally:
        for each in trainings:
            each.ended.set()
        for each in trainings:
            each.join(150)
    assert [each.fault for each in trainings if each.fault] == []
    pushers = [pusher for each in trainings for pusher in each.pushers]

    wait_for(lambda: postgres.sql("select count(*) from rule_tasks where state <> 'done'") == [["0"]], "all is judged", 120)
    check_judged_once(postgres, pushers)
    check_changed_once(postgres, pushers)
    check_told_once(postgres, listener, pushers)
    check_law(intake, pushers)
    seen = faults.met()
    print(f"{struck} faults, {len(pushers)} jobs, {seen:.0f} outcomes came too late and were thrown away")
    assert seen > 0, "no fault met an evaluation: nothing was tested"


def check_judged_once(postgres, pushers):
    rows = {job: (int(judged), status, int(findings)) for job, judged, status, findings in postgres.sql(JUDGED)}
    assert rows == {each.job: (each.ticks, "IssuesFound", 1) for each in pushers}


def check_changed_once(postgres, pushers):
    """Versions one after the other; each rule from its beginning to what it ended with."""
    changes = {}
    for job, rule, version, status in postgres.sql(CHANGES):
        changes.setdefault((job, rule), []).append((int(version), status))
    assert len(changes) == len(pushers) * len(RULES)
    for rule, each in changes.items():
        versions, statuses = zip(*each)
        assert list(versions) == list(range(1, len(each) + 1)) and len(set(statuses)) == len(statuses), (rule, each)
        assert statuses[-1] in ("IssuesFound", "NoIssuesFound"), (rule, each)


def check_told_once(postgres, listener, pushers):
    jobs = [each.job for each in pushers]
    wanted = {("rule.issues_found", job, FIRES) for job in jobs} | {("job.completed", job, "") for job in jobs}
    rows = {(event, job, rule): int(count) for event, rule, job, count in postgres.sql(TOLD)}
    assert {key: count for key, count in rows.items() if count != 1} == {}
    assert wanted <= rows.keys(), wanted - rows.keys()
    wait_for(lambda: wanted <= set(listener.events.values()), "the messages came", 120)
    about = sorted(listener.events.values())
    assert about == sorted(set(about)), "told twice, under two numbers"
