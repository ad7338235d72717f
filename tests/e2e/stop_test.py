"""A job is stopped over HTTP: its training ends as it wants to, its rules are judged to the end."""

from tests.e2e.run_test import described, running
from tests.support.service import wait_for

# Says with a file that it would hear.
SAVES = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(3)); open(sys.argv[1], 'w'); time.sleep(300)"


def stop(service, job):
    return service.request("POST", f"/api/v1/jobs/{job}/stop")


def statuses(job):
    return [transition["status"] for transition in job["secondary_status_transitions"]]


def test_a_training_ends_as_it_wants_to(service, tmp_path):
    ready = tmp_path / "ready"
    with running(service, "stopped", "python3", "-c", SAVES, str(ready), flags=["--allow", "interval,stop"]) as agent:
        wait_for(ready.exists, "a training that hears")
        described(service, "stopped", "InProgress")
        wait_for(lambda: service.get("/api/v1/jobs/stopped")[1]["nodes"], "the node")
        code, answer = stop(service, "stopped")
        assert (code, answer["status"]) == (202, "Stopping")
        assert agent.wait(timeout=60) == 3
        job = described(service, "stopped", "Stopped")
        assert statuses(job)[-2:] == ["Stopping", "Stopped"]

    def judged():
        rules = service.get("/api/v1/jobs/stopped")[1]["profiler_rule_evaluation_statuses"]
        return rules if all(rule["rule_evaluation_status"] not in ("InProgress", "Stopping") for rule in rules) else None

    rules = wait_for(judged, "rules that were judged to the end")
    assert {rule["rule_evaluation_status"] for rule in rules} <= {"Stopped", "IssuesFound"}


def test_what_may_not_be_stopped_goes_on(service):
    with running(service, "stubborn", "sleep", "300") as agent:
        described(service, "stubborn", "InProgress")
        wait_for(lambda: service.get("/api/v1/jobs/stubborn")[1]["nodes"], "the node")
        code, problem = stop(service, "stubborn")
        assert code == 409 and "--allow interval,stop" in problem["detail"]
        assert agent.poll() is None
        assert service.get("/api/v1/jobs/stubborn")[1]["status"] == "InProgress"
