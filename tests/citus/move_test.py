"""Data go from one PostgreSQL to Citus and back by dump and restore, as the service's own role."""

import subprocess

import pytest

from tests.citus.cluster import SKIPPED, Cluster, address, ask
from tests.support.service import Service, program, wait_for

pytestmark = pytest.mark.skipif(not address(), reason=SKIPPED)

JOB = "moved"
ASKED = [f"/api/v1/jobs/{JOB}/{what}" for what in ("metrics?metric=gpu_util_percent", "steps", "diagnosis", "rules")]


def answers(service):
    """What is said of the job, without what depends on the hour."""
    return [service.get(path) for path in ASKED]


def tool(*words):
    done = subprocess.run([program("stepscope-server"), *map(str, words)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_and_back(folder):
    for name in ("before", "there", "back"):
        (folder / name).mkdir(mode=0o711)
    before = Service(folder / "before", database="private").start()
    subprocess.run([program("stepscope-scenario"), "slow-input", "--server", before.url, "--speed", "0", "--job", JOB], check=True, capture_output=True, timeout=120)
    judged = lambda: all(rule["rule_evaluation_status"] != "InProgress" for rule in before.get(f"/api/v1/jobs/{JOB}")[1]["profiler_rule_evaluation_statuses"])
    wait_for(judged, "the rules are judged")
    said = answers(before)
    before.stop()
    tool("dump", "--data-dir", before.data_dir, folder / "one.dump")

    cluster = Cluster(address())
    with cluster.database() as (own, superuser):
        tool("restore", "--data-dir", folder / "there/data", "--database-url", own, folder / "one.dump")
        there = Service(folder / "there", "--database-url", own).start()
        assert answers(there) == said
        assert int(ask(superuser, "select count(*) from citus_tables")[0][0]) > 15
        there.stop()
        tool("dump", "--data-dir", there.data_dir, "--database-url", own, folder / "two.dump")
    tool("restore", "--data-dir", folder / "back/data", folder / "two.dump")
    back = Service(folder / "back", database="private").start()
    try:
        assert answers(back) == said
        assert int(back.sql("select table_bytes('frames')")[0][0]) > 0
    finally:
        back.stop()
