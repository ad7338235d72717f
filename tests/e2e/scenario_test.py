"""stepscope-scenario, with the real service."""

import re
import signal
import subprocess
import time

from tests.support.service import ROOT, Service, program, wait_for

PAGE = ROOT / "docs/scenarios.md"


def scenario(*words, **options):
    return subprocess.run([program("stepscope-scenario"), *map(str, words)], capture_output=True, text=True, timeout=120, **options)


def listed():
    """Name, sentence, and what is expected of each, in the order of --list."""
    lines = scenario("--list").stdout.splitlines()
    return [(*re.split(r"\s{2,}", first, maxsplit=1), second.strip()) for first, second in zip(lines[::2], lines[1::2])]


def job(service, name):
    return service.get(f"/api/v1/jobs/{name}")[1]


def status(rule):
    return rule["rule_evaluation_status"]


def issues(service, name):
    """The rules that found issues, once all have said their last."""
    rules = wait_for(
        lambda: (found := job(service, name)["profiler_rule_evaluation_statuses"]) and "InProgress" not in map(status, found) and found,
        f"all rules of {name} are done",
    )
    return {rule["rule"] for rule in rules if status(rule) == "IssuesFound"} - {"ProfilerReport"}


def first_cause(service, name):
    budget = service.get(f"/api/v1/jobs/{name}/diagnosis")[1]["budget"]
    return next(row["cause"] for row in budget if row["cause"] != "busy")


def test_made_jobs_are_judged_as_the_list_says(service):
    sent_at = None
    expected = {name: what for name, _, what in listed()}
    for name in ("slow-input", "silent-node"):
        sent = scenario(name, "--server", service.url, "--speed", "0")
        assert sent.returncode == 0, sent.stderr
        assert sent.stdout == f"{service.url}/jobs/{name}\n"
        sent_at = sent_at or time.time()
    cause, rules = expected["slow-input"].split("; ")
    assert issues(service, "slow-input") == set(rules.split(", "))
    assert first_cause(service, "slow-input") == cause
    made = job(service, "slow-input")
    assert made["status"] == "Completed" and len(made["nodes"]) == len(made["ranks"]) == 1
    # Its last sample is of the moment when it was sent.
    assert abs(made["ended_us"] / 1e6 - sent_at) < 30 and made["ended_us"] - made["started_us"] > 400e6
    # The other node may still come back.
    assert job(service, "silent-node")["status"] == "InProgress"


def test_a_job_that_ended_takes_no_second_one(service):
    for name, options in (("failed", []), ("failed-again", ["--job", "failed-again", "--seed", "7", "--nodes", "2"])):
        assert scenario("failed", "--server", service.url, "--speed", "0", *options).returncode == 0
        wait_for(lambda: job(service, name)["status"] == "Failed", f"{name} has failed")
    again = scenario("failed", "--server", service.url, "--speed", "0")
    assert again.returncode == 1 and "choose another name with --job" in again.stderr, again.stderr


def test_an_interrupted_one_is_told_as_such(service):
    words = [program("stepscope-scenario"), "healthy", "--server", service.url, "--speed", "10"]
    started = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: service.get("/api/v1/jobs/healthy")[0] == 200, "the job is there")
    started.send_signal(signal.SIGINT)
    said = started.communicate(timeout=30)[1]
    assert started.returncode == 130 and "interrupted" in said
    wait_for(lambda: job(service, "healthy")["status"] == "Failed", "the job has ended")
    assert "signal 2" in str(job(service, "healthy"))


def test_faults_say_what_to_do():
    for words, part in (
        (["slow-inpt", "--server", "http://127.0.0.1:9"], "did you mean 'slow-input'?"),
        (["healthy"], "--server"),
        (["--server", "http://127.0.0.1:9"], "--list"),
        (["healthy", "--server", "http://127.0.0.1:9", "--speed", "fast"], "--speed"),
        (["healthy", "--server", "http://127.0.0.1:9", "--nodes", "0"], "--nodes"),
        (["healthy", "--server", "http://127.0.0.1:9", "--job", "a b"], "--job"),
        (["--all", "healthy", "--server", "http://127.0.0.1:9"], "--all"),
    ):
        said = scenario(*words)
        assert said.returncode == 2 and part in said.stderr, said.stderr
    away = scenario("healthy", "--server", "http://127.0.0.1:9")
    assert away.returncode == 1 and "is away" in away.stderr


def test_a_token_that_is_not_known_is_refused_at_once(folder):
    service = Service(folder, "--require-tokens").start()
    try:
        (folder / "token").write_text("st_agent_" + "x" * 43 + "\n")
        (folder / "token").chmod(0o600)
        refused = scenario("healthy", "--server", service.url, "--token-file", folder / "token")
        assert refused.returncode == 1 and "--token-file" in refused.stderr, refused.stderr
    finally:
        service.stop()


def test_the_page_lists_what_there_is():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert rows == [f"| `{name}` | {sentence} | {what} |" for name, sentence, what in listed()]
