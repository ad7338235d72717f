"""A job is measured more often while it runs, and its agent may refuse that."""

from tests.e2e.daemon_test import daemon, training  # noqa: F401 (a fixture)
from tests.e2e.run_test import described, running
from tests.support.service import wait_for


def change(service, job, interval_ms):
    code, answer = service.request("PATCH", f"/api/v1/jobs/{job}", {"configuration": {"interval_ms": interval_ms}})
    assert code == 200, answer


def answered(service, job):
    """The answer of the only node's agent, once it has given one."""
    nodes = service.get(f"/api/v1/jobs/{job}")[1]["nodes"]
    return nodes[0]["facts"].get("last_command") if nodes else None


def most_ticks(service, job):
    """The most ticks that came in one push."""
    rows = service.sql(f"select coalesce(max(rows), 0) from frames where kind = 1 and job_id = (select job_id from jobs where name = '{job}')")
    return int(rows[0][0])


def test_an_agent_obeys_while_the_job_runs(service):
    with running(service, "quick", "sleep", "300", flags=["--interval", "5s"]):
        described(service, "quick", "InProgress")
        change(service, "quick", 100)
        said = wait_for(lambda: answered(service, "quick"), "an answer of the agent")
        assert said == {"command": "interval-1", "outcome": "done", "reason": ""}

        wait_for(lambda: most_ticks(service, "quick") >= 8, "pushes of a second with ticks that are 100 ms apart")


def test_an_agent_refuses_what_it_was_not_started_with(service):
    with running(service, "stubborn", "sleep", "300", flags=["--allow", "none"]):
        described(service, "stubborn", "InProgress")
        change(service, "stubborn", 100)
        said = wait_for(lambda: answered(service, "stubborn"), "an answer of the agent")
        assert said["outcome"] == "refused" and "--allow interval" in said["reason"]


def test_a_daemon_samples_as_often_as_one_of_its_jobs_wants(service, daemon):  # noqa: F811
    with training(daemon, "calm"), training(daemon, "keen"):
        for job in ("calm", "keen"):
            described(service, job, "InProgress")
        change(service, "keen", 100)
        assert wait_for(lambda: answered(service, "keen"), "an answer of the daemon")["outcome"] == "done"
        for job in ("calm", "keen"):
            wait_for(lambda: most_ticks(service, job) >= 8, "pushes of a second with ticks that are 100 ms apart")
        assert answered(service, "calm") is None
