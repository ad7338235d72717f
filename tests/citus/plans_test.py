"""Citus plans every statement of the store, and asks one shard where it is about one job."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.citus.cluster import SKIPPED, Cluster, address, ask, tasks
from tests.citus.recorder import Recorder
from tests.sql_rules_test import CLASSES, DISTRIBUTED
from tests.support import sql
from tests.support.service import Service, program

pytestmark = pytest.mark.skipif(not address(), reason=SKIPPED)

# A value for a parameter of each type: job 1, and everything else that is small.
VALUES = {
    "bigint": "1", "integer": "1", "smallint": "1", "double precision": "1", "real": "1", "boolean": "true", "text": "'1'", "bytea": r"'\x31'",
    "jsonb": "'{}'", "bigint[]": "'{1}'", "integer[]": "'{1}'", "text[]": "'{1}'", "bytea[]": r"""'{"\\x31"}'""", "jsonb[]": "'{}'",
    "double precision[]": "'{1}'",
}
# The statements that are about many jobs, or about those that have something: all machines answer them. None is part of a push, of a
# chart or of a page of one job.
ABOUT_MANY_JOBS = (
    r"^select job_id, count\(\*\) from frames where kind",  # which jobs have frames to compact
    r"^select distinct job_id from job_rollups where stale",  # which have bins to fold
    r"tablesample system",  # how much of what is stored, for --keep-size
    r"^select c\.job_id, bool_or\(.* where c\.job_id = any",  # the list of jobs
    r"^select job_id, count\(\*\) from nodes where job_id = any",
    r"^select job_id, sum\(.* from nodes where job_id = any",
    r"^select .*\bfrom jobs where .*\bfrom rule_configs",  # jobs that have a rule with issues
    r"^select distinct on \(coalesce\(closed_us",  # earlier runs of a group
)
# Rows that the coordinator is given, or asks one shard for, and copies to the shard of their job. It explains the second kind only
# without parameters.
BY_COPY = r"^insert into \w+ \([^)]*\) select .* from unnest\("
NOT_EXPLAINED = r"^insert into status_transitions .* from status_transitions where job_id = \$1"
# What the tests of rules ask themselves, to make a job of the past.
OF_TESTS = r"^(update nodes set (ended_us = last_seen_us|facts = \$2)|delete from rule_states where job_id <> \$1)"


def words(text):
    return " ".join(text.split())


def is_of_store(text):
    """Reads or writes tables that are spread by job; what tests ask themselves has no parameters."""
    plain = words(text)
    spread = any(CLASSES.get(name) == DISTRIBUTED for name in sql.Statement("", sql.plain(text)).names())
    return spread and bool(re.match(r"\(*(select|insert|update|delete|with)\b.*\$1\b|select (distinct )?job_id", plain))


@pytest.fixture(scope="module")
def statements():
    """What the tests of the store ask: each statement with the types of its parameters."""
    recorder = Recorder(address())
    environment = {**os.environ, "STEPSCOPE_CITUS_URL": recorder.url}
    for command in (["tests/test_server_store"], ["tests/test_server_evaluate", "--gtest_filter=EarlierRuns.*"]):
        full = [program(command[0]), *command[1:], "--gtest_brief=1"]
        ran = subprocess.run(full, env=environment, capture_output=True, text=True, timeout=1800)
        faults = [line for line in ran.stdout.splitlines() if "Failure" in line or "FAILED" in line]
        assert ran.returncode == 0, "\n".join(faults)
    recorder.close()
    found = sorted((text, types) for text, types in recorder.statements if is_of_store(text) and not re.search(OF_TESTS, words(text)))
    assert len(found) >= 120, "the store asks more than that"
    return found


@pytest.fixture(scope="module")
def database():
    with Cluster(address()).database() as (own, superuser):
        with tempfile.TemporaryDirectory(prefix="stepscope-citus-") as folder:
            os.chmod(folder, 0o711)
            service = Service(Path(folder), "--database-url", own).start()
            service.stop()
        yield superuser


def types_of(url, text, types):
    names = [row[0] for row in ask(
        url, f"select format_type(nullif(t, 0), null) from unnest('{{{','.join(map(str, types))}}}'::oid[]) with ordinality as x (t, n) order by n")]
    head = f"({', '.join(name if name in VALUES else 'unknown' for name in names)})" if names else ""
    prepared = f"prepare asked {head} as {text}"
    return prepared, [row[0] for row in ask(url, prepared, "select unnest(parameter_types) from pg_prepared_statements where name = 'asked'")]


def tasks_of(url, text, types):
    """The task counts of its plan, with values that stand for its parameters."""
    prepared, names = types_of(url, text, types)
    for texts in ("'{1}'", "'{}'"):  # a list of metrics; an empty one stands for all of them
        values = [texts if name == "text[]" else VALUES[name] for name in names]
        try:
            return tasks(url, f"execute asked({', '.join(values)})" if values else "execute asked", prepared)
        except RuntimeError as fault:
            last = fault
    raise last


def test_a_statement_about_one_job_asks_one_shard(statements, database):
    faults, planned = [], 0
    for text, types in statements:
        plain = words(text)
        if re.search(NOT_EXPLAINED, plain):
            continue
        try:
            counts = tasks_of(database, text, types)
        except RuntimeError as fault:
            faults.append(f"refused: {str(fault)[-200:]}: {plain[:200]}")
            continue
        planned += 1
        if any(re.search(pattern, plain) for pattern in ABOUT_MANY_JOBS):
            continue
        if counts != [1] and not (counts == [] and re.search(BY_COPY, plain)):
            faults.append(f"asks {counts} shards: {plain[:200]}")
    assert not faults, "\n".join(faults)
    assert planned >= 120


def test_the_list_of_statements_about_many_jobs_is_as_short_as_can_be(statements):
    for pattern in ABOUT_MANY_JOBS:
        assert any(re.search(pattern, words(text)) for text, _ in statements), f"nothing is like {pattern}"
