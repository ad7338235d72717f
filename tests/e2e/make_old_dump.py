"""Makes tests/e2e/data/version_*.*, what a version leaves on disk: a dump of its service, what it answers of that over REST,
and a spool of its agent. old_version_test.py reads them with the programs of the present tree.

    git worktree add /tmp/old 415d34e && cd /tmp/old && cmake --preset release && ninja -C build/release
    cd - && python3 -m tests.e2e.make_old_dump /tmp/old/build/release tests/e2e/data/version_0.1.0
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.e2e.conftest import passable_folder
from tests.support import wire
from tests.support.service import ROOT, Service, program, wait_for

sys.path.insert(0, str(ROOT / "scripts"))
from webhook_receiver import Receiver  # noqa: E402

# Nothing is judged, and no frame becomes part of a block. All options are those of the version before.
AT_REST = ("--evaluators", "0", "--compact-look", "5m")
JOBS = ("finished", "running", "marked")
OF_A_JOB = (
    "", "/rules", "/findings", "/diagnosis", "/report", "/events", "/steps", "/usage", "/windows", "/metrics?points=30",
    "/metrics?points=1000&metric=gpu_util_percent", "/percentiles?metric=gpu_util_percent", "/heatmap?metric=cpu_util_percent",
    "/rules/LowGPUUtilization/transitions",
)
PATHS = (
    "/api/v1/jobs", "/api/v1/rules", "/api/v1/webhooks", "/api/v1/deliveries", "/api/v1/tokens", "/api/v1/audit",
    *(f"/api/v1/jobs/{job}{what}" for job in JOBS for what in OF_A_JOB), "/api/v1/jobs/marked/windows/1/spans",
)
OWN_RULE = {"name": "BusyGpu", "rule": "Custom", "parameters": {"metric": "gpu_util_percent", "aggregation": "p95", "threshold": 5, "window": "30s", "patience": 0}}
MARKED_AT_US = 1_795_205_614_000_000


def scenario(service, *words):
    return subprocess.Popen([program("stepscope-scenario"), *words, "--server", service.url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def statuses(service, job):
    return {rule["rule_configuration_name"]: rule["rule_evaluation_status"] for rule in service.get(f"/api/v1/jobs/{job}")[1]["profiler_rule_evaluation_statuses"]}


def make_finished(service):
    """A whole job in which several rules find issues."""
    assert scenario(service, "preprocessing-and-checkpoints", "--job", "finished", "--speed", "0").wait() == 0
    wait_for(lambda: "InProgress" not in statuses(service, "finished").values(), "every rule has said its last")


def make_running(service):
    """A job whose agent went away: it has blocks, frames that are in none yet, and states of rules that are not done."""
    player = scenario(service, "slow-input", "--job", "running", "--speed", "20")
    wait_for(lambda: service.get("/api/v1/jobs/running")[0] == 200, "the job is known")
    assert service.request("PATCH", "/api/v1/jobs/running", {"configuration": {"rules": [OWN_RULE]}})[0] == 200
    time.sleep(7)
    service.stop()  # one that starts puts frames into blocks at once, and then after minutes
    service.start()
    wait_for(lambda: service.sql("select count(*) from blocks join jobs using (job_id) where name = 'running'") != [["0"]], "blocks")
    time.sleep(2)
    player.send_signal(signal.SIGKILL)
    player.wait()


def make_marked(service):
    """A job with an annotation, and a window with one span."""
    session, numbers = os.urandom(16), iter(range(1, 100))

    def send(kind, payload, columns=b""):
        frame = wire.frame(kind, session, next(numbers), MARKED_AT_US, "marked", "node-1", payload, columns, wire.schema_hash(columns) if columns else 0)
        status, answer = service.request("POST", "/api/v1/ingest/frames", wire.push([frame]), "application/vnd.stepscope.frames")
        assert status == 200 and answer["rejected"] == [], answer
        return answer.get("commands", [])

    def say(**event):
        return send(wire.LIFECYCLE, json.dumps({"at_us": MARKED_AT_US, **event}).encode())

    def rank_table(kind, values, *columns):
        return send(kind, wire.row(values, [0] * len(values)), wire.schema([(column, "") for column in columns], 0, ["decode"]))

    say(event="started", command=["train"], facts={"allows": ["interval", "spans"]})
    rank_table(wire.STEPS, [1003, MARKED_AT_US, 250_000_000], "step", "start_us", "wall_ns")
    asked = service.request("POST", "/api/v1/jobs/marked/windows", {"what": "annotations", "start_step": 1000, "num_steps": 10})
    assert asked[0] == 201, asked
    (command,) = rank_table(
        wire.SPANS, [1, 0, 4711, 0, 1003, MARKED_AT_US * 1000 + 500, 1_234_567], "window", "name", "process", "thread", "step", "start_ns", "duration_ns",
    )
    rank_table(
        wire.ANNOTATIONS, [0, MARKED_AT_US, MARKED_AT_US + 250_000, 3, 3_703_701, 1_234_567, 1_234_567],
        "name", "from_us", "to_us", "count", "sum_ns", "min_ns", "max_ns",
    )
    say(event="answered", command=command["id"], outcome="done", reason="", spans=1, dropped=0)
    say(event="ended", at_us=MARKED_AT_US + 1_000_000, exit_code=0)
    wait_for(lambda: "InProgress" not in statuses(service, "marked").values(), "every rule has said its last")


def wait_for_quiet(service):
    """Until nothing is due but looks at the job that runs, which find nothing new."""
    wait_for(lambda: service.sql("select count(*) from deliveries where state <> 'delivered'") == [["0"]], "all is told")

    def state():
        return service.sql("select md5(string_agg(watermark::text || status, ',' order by rule_config_id)) from rule_states")

    wait_for(lambda: (before := state()) and time.sleep(3) is None and state() == before, "the rules have seen all")


def shown(service):
    """What the service answers, with the paths within it."""
    answers = {}
    for path in PATHS:
        status, answers[path] = service.get(path)
        assert status == 200, (path, answers[path])
    return json.loads(json.dumps(answers).replace(service.url, ""))


def make_dump(folder, output):
    receiver = Receiver(say=lambda line: None)
    service = Service(folder, "--webhook-allow", "127.0.0.1/32", "--evaluation-slot", "500ms", "--compact-look", "100ms").start()
    try:
        receiver.secret = service.request("POST", "/api/v1/webhooks", {"url": receiver.url})[1]["secret"]
        words = [program("stepscope-server"), "token", "create", "--role", "admin", "--name", "alice", "--data-dir", str(service.data_dir)]
        token = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
        make_marked(service)
        make_finished(service)
        make_running(service)
        wait_for_quiet(service)
        service.stop()
        service.options = AT_REST
        service.start()
        dump = folder / "old.dump"
        subprocess.run([program("stepscope-server"), "dump", "--data-dir", str(service.data_dir), str(dump)], check=True, stderr=subprocess.DEVNULL)
        kept = {"token": token, "webhook_secret": receiver.secret, "answers": shown(service)}
    finally:
        service.stop()
        receiver.close()
    shutil.copyfile(dump, f"{output}.dump")
    shutil.copyfile(f"{dump}.key", f"{output}.dump.key")
    # An answer a line.
    lines = [f"{json.dumps(path)}: {json.dumps(answer, sort_keys=True)}" for path, answer in kept.pop("answers").items()]
    Path(f"{output}.json").write_text(json.dumps({**kept, "answers": {}}, indent=1).replace("{}", "{\n" + ",\n".join(lines) + "\n}") + "\n")


def make_root(root):
    """A machine that is read in place of this one, so that nothing of it gets into the repository."""
    for name, text in {
        "proc/stat": "cpu  10 0 10 100 0 0 0 0 0 0\ncpu0 10 0 10 100 0 0 0 0 0 0\nbtime 1795200000\n",
        "proc/meminfo": "MemTotal: 1000000 kB\nMemFree: 500000 kB\nMemAvailable: 600000 kB\n",
        "proc/loadavg": "0.50 0.40 0.30 1/100 4711\n",
        "proc/sys/kernel/osrelease": "6.1.0\n",
        "sys/devices/system/cpu/online": "0\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def make_spool(folder, output):
    """The spool of an agent that never met its service and was killed."""
    make_root(folder / "root")
    words = [
        program("stepscope-agent"), "run", "--server", "http://127.0.0.1:9", "--job", "spooled", "--node", "node-1", "--push", "1s", "--root", str(folder / "root"),
        "--spool", str(folder / "spool"), "--", "sleep", "12",
    ]
    agent = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(8)
    agent.kill()
    agent.wait()
    subprocess.run(["tar", "-C", str(folder), "--owner=0", "--group=0", "--numeric-owner", "-czf", f"{output}.spool.tar.gz", "spool"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", type=Path, help="the build folder of that version")
    parser.add_argument("output", type=Path, help="the beginning of the names of the files")
    options = parser.parse_args()
    os.environ["STEPSCOPE_BUILD"] = str(options.programs)
    with passable_folder() as folder:
        make_dump(folder, options.output)
    with passable_folder() as folder:
        make_spool(folder, options.output)


if __name__ == "__main__":
    main()
