"""One SQL for PostgreSQL and Citus: which class each table is, and what statements over it may not do.

What Citus refuses, and what it would ask every machine for, held against every migration and every statement in the C++ source
(docs/decisions/0008-citus.md). tests/citus asks Citus itself, where there is one. sql_refused_test.py shows each rule a text that it must
refuse, among them the statements that Citus refused.
"""

import re
from pathlib import Path

import pytest

from tests.support import sql

ROOT = Path(__file__).resolve().parents[1]

# Spread over the machines by job_id; a copy on each machine; on the coordinator alone. A table that is not here has no place yet.
DISTRIBUTED, REFERENCE, LOCAL = "distributed", "reference", "local"
CLASSES = {
    "nodes": DISTRIBUTED,
    "ranks": DISTRIBUTED,
    "schemas": DISTRIBUTED,
    "streams": DISTRIBUTED,
    "frames": DISTRIBUTED,
    "blocks": DISTRIBUTED,
    "rollups": DISTRIBUTED,
    "job_rollups": DISTRIBUTED,
    "step_blocks": DISTRIBUTED,
    "annotation_blocks": DISTRIBUTED,
    "windows": DISTRIBUTED,
    "window_answers": DISTRIBUTED,
    "span_blocks": DISTRIBUTED,
    "traces": DISTRIBUTED,
    "trace_parts": DISTRIBUTED,
    "rule_configs": DISTRIBUTED,
    "rule_states": DISTRIBUTED,
    "findings": DISTRIBUTED,
    "status_transitions": DISTRIBUTED,
    "events": DISTRIBUTED,
    "jobs": REFERENCE,  # their names are unique
    "rule_tasks": LOCAL,
    "compact_tasks": LOCAL,
    "removals": LOCAL,
    "webhooks": LOCAL,
    "deliveries": LOCAL,
    "tokens": LOCAL,
    "sessions": LOCAL,
    "audit": LOCAL,
    "node_bindings": LOCAL,
    "job_hours": LOCAL,
    "schema_migrations": LOCAL,
    "schema_migrations_citus": LOCAL,
}
MADE_BY_THE_PROGRAM = {"schema_migrations", "schema_migrations_citus"}  # server/store/schema/migrations.cpp
PAYLOAD = "payload"  # compressed already: PostgreSQL must not try again

# Files with statements that read of many jobs, or look for jobs: all machines answer them. No push, chart or page of one job has one.
ABOUT_MANY_JOBS = {
    "server/store/fleet/idle_verdicts.cpp": "the GPUs that idle now",
    "server/store/fleet/job_hours.cpp": "the hours of jobs that ended",
    "server/store/jobs/earlier_runs.cpp": "the runs of a group before",
    "server/store/jobs/job_facts.cpp": "jobs whose agents are silent",
    "server/store/jobs/job_list.cpp": "the list of jobs",
    "server/store/jobs/job_sizes.cpp": "the list of jobs",
    "server/store/jobs/silences.cpp": "agents that are silent",
    "server/store/retention/compact_tasks.cpp": "what waits to be compacted",
    "server/store/retention/stored_bytes.cpp": "how much is stored",
    "server/store/ticks/job_head.cpp": "explained by tests/citus: one shard",
}
ONE_JOB = r"\bjob_id = (\$\d|\{\d*\})"

# The one function that has another body on Citus.
TABLE_BYTES = "create or replace function table_bytes(name regclass) returns bigint language sql as 'select citus_total_relation_size(name)'"

OUR_TIME = r"\b(now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\(|\bcurrent_(timestamp|time|date)\b"
VOLATILE = r"\b(clock_timestamp|timeofday|random|gen_random_uuid|nextval)\("


# Functions of PostgreSQL that are not immutable, though they look so: how a value becomes JSON or text may depend on settings.
STABLE = r"\b(jsonb?_build_(?:object|array)|jsonb?_object_agg|jsonb?_agg|to_jsonb?|concat|concat_ws|format|to_char|to_timestamp|now)\("


def of_class(statement, *classes):
    return sorted(name for name in statement.names() if CLASSES.get(name) in classes)


# Rules of one statement, of a migration or of the program: each yields sentences.


def has_a_class(statement):
    for name in sorted(statement.names() - CLASSES.keys()):
        if not name.startswith("pg_"):
            yield f"{name} has no row in the table of classes"


def keys_hold_the_job(statement):
    for key in sql.keys_of(statement):
        if CLASSES.get(key.table) != DISTRIBUTED:
            continue
        if key.kind == "primary" and key.columns[0] != "job_id":
            yield f"the primary key of {key.table} does not begin with job_id"
        elif "job_id" not in key.columns:
            yield f"a unique key of {key.table} lacks job_id"


def has_a_primary_key(statement):
    made = re.match(r"create table (?:if not exists )?(\w+) \(", statement.text)
    if made and not any(key.kind == "primary" for key in sql.keys_of(statement)):
        yield f"{made[1]} has no primary key"


def has_no_foreign_key(statement):
    if re.search(r"\breferences\b|\bforeign key\b", statement.text):
        yield "has a foreign key"


def has_no_trigger(statement):
    if re.search(r"\btrigger\b", statement.text):
        yield "has a trigger"


def identities_are_bigint(statement):
    for name, definition in sql.columns_of(statement):
        if re.search(r"\bserial\b|\w+serial\b", definition) or ("as identity" in definition and not definition.startswith("bigint")):
            yield f"{name} is an identity that is not a bigint"


def conflicts_know_no_clock(statement):
    behind = statement.text.partition(" on conflict ")[2]
    if re.search(OUR_TIME, behind):
        yield "reads a clock in `on conflict`: bind the time"


def writes_are_not_volatile(statement):
    spread = CLASSES.get(statement.target()) == DISTRIBUTED
    if spread and re.search(rf"\b(update|delete from) {statement.target()}\b", statement.text) and re.search(VOLATILE, statement.text):
        yield f"changes {statement.target()} by a volatile function"


def skips_locks_on_local_tables(statement):
    if "skip locked" in statement.text and (others := of_class(statement, DISTRIBUTED, REFERENCE)):
        yield f"`skip locked` beside {', '.join(others)}: only local tables"


def locks_one_job(statement):
    if not re.search(r"\bfor (no key )?(update|share)\b", statement.text):
        return
    for name in of_class(statement, DISTRIBUTED):
        if not re.search(r"\bjob_id = \$\d", statement.text):
            yield f"locks rows of {name} without `job_id = $n`"


def notifies_alone(statement):
    if re.search(r"\bpg_notify\b|^notify\b", statement.text) and (bulk := of_class(statement, DISTRIBUTED)):
        yield f"pg_notify beside {', '.join(bulk)}"


def groups_plainly(statement):
    if re.search(r"\bgrouping sets\b|\b(cube|rollup) ?\(", statement.text):
        yield "grouping sets, cube or rollup"


def joins_by_job(statement):
    spread = [found for found in statement.tables() if CLASSES.get(found[2]) == DISTRIBUTED]
    if statement.text.startswith("insert into"):
        spread = spread[1:]
    for number, (begin, word, name) in enumerate(spread[1:], 2):
        end = spread[number][0] if number < len(spread) else len(statement.text)
        behind = statement.text[begin:end]
        if word == "from" and re.search(r"\bjob_id (not )?in \( ?select (\w+\.)?job_id $", statement.text[:begin]):
            continue  # compared by job_id
        if word == "join":
            behind = re.split(r" (?:where|order by|group by|limit|(?:left |inner |cross )?join) ", behind.removeprefix("join "))[0]
        if not re.search(r"using \([^)]*\bjob_id\b|\.job_id = \w+\.job_id|\bjob_id = (\$\d|\{\d\})", behind):
            yield f"joins {name} without job_id"


def keeps_the_job(statement):
    for change in re.finditer(r"\bset (.*?)(?= where | from | returning |$)", statement.text):
        if any(re.match(r"\(?(\w+\.)?job_id\b.*=", piece.strip()) for piece in sql.split(change[1], ",")):
            yield "sets job_id"


def changes_one_class(statement):
    """`insert ... select` may cross, by way of the coordinator; `update` and `delete` may not."""
    if statement.text.startswith("insert into"):
        return
    target = statement.target()
    if CLASSES.get(target) == LOCAL and (spread := of_class(statement, DISTRIBUTED)):
        yield f"changes {target}, which is local, by {', '.join(spread)}"
    if CLASSES.get(target) in (DISTRIBUTED, REFERENCE) and (local := of_class(statement, LOCAL)):
        yield f"changes {target} by {', '.join(local)}, which is local"


def looks_inward_alone(statement):
    """A subquery over a distributed table does not name a column of a reference table outside of it."""
    for at in (found.start() for found in re.finditer(r"\((?=select )", statement.text)):
        inner = sql.Statement("", sql.bracket(statement.text, at))
        outer = set(of_class(statement, REFERENCE)) - inner.names()
        for name in sorted(outer) if of_class(inner, DISTRIBUTED) else ():
            alias = re.search(rf"\b(?:from|join) {name}(?: as)? (\w+)", statement.text)
            if re.search(rf"\b({name}|{alias[1] if alias else name})\.", inner.text):
                yield f"a subquery over {', '.join(of_class(inner, DISTRIBUTED))} depends on {name}"


def changes_by_immutable_functions(statement):
    """Citus sends a change to the shard as text: a function that may answer otherwise there is worked out before, so it sees no row."""
    target = statement.target()
    if not re.match(r"update\b", statement.text) or CLASSES.get(target) not in (DISTRIBUTED, REFERENCE):
        return
    for found in re.finditer(STABLE, statement.text):
        arguments = sql.bracket(statement.text, found.end() - 1)
        if re.search(r"[a-z]", re.sub(r"\$\d+(::[a-z ]+(\[\])?)?", "", arguments)):
            yield f"changes {target} by {found[1]}, which is stable, of its columns"
        elif any(found.start() in span for span in conditional(statement.text)):
            yield f"changes {target} by {found[1]}, which is stable, within coalesce or case"


def conditional(text):
    """The places of each `coalesce` and `case`."""
    for found in re.finditer(r"\bcoalesce(?=\()", text):
        yield range(found.end(), found.end() + len(sql.bracket(text, found.end())))
    for found in re.finditer(r"\bcase\b.*?\bend\b", text):
        yield range(*found.span())


def joins_distributed_tables_first(statement):
    """Citus joins from left to right: behind a reference table it does not see that two others lie side by side."""
    for found in re.finditer(r"\bfrom (\w+)(?: (?:as )?(?!join|left|inner)\w+)? ((?:left |inner )?join .*?)(?= where | group by | order by |$)", statement.text):
        joined = [name for name in re.findall(r"\bjoin (\w+)", found[2]) if CLASSES.get(name) == DISTRIBUTED]
        if CLASSES.get(found[1]) == REFERENCE and len(joined) > 1:
            yield f"joins {' and '.join(joined)} behind {found[1]}: put them first"


def names_the_job_in_subqueries(statement):
    """A subquery whose job comes from a row outside of it may be about any job, so every shard is asked."""
    for at in (found.start() for found in re.finditer(r"\((?=select )", statement.text)):
        inner = sql.Statement("", sql.bracket(statement.text, at))
        spread = of_class(inner, DISTRIBUTED)
        own = {name for found in re.finditer(r"\b(?:from|join) (\w+)(?: (?:as )?(\w+))?", inner.text) for name in found.groups() if name}
        outer = [alias for alias in re.findall(r"\bjob_id = (\w+)\.job_id", inner.text) if alias not in own]
        if spread and outer:
            yield f"a subquery over {', '.join(spread)} takes its job from {outer[0]}: name it by `job_id = $n`"


def names_one_job(statement):
    spread = of_class(statement, DISTRIBUTED)
    reads = re.match(r"\(*(select|with|update|delete)\b", statement.text)
    place = statement.place.partition(":")[0]
    if spread and reads and place not in ABOUT_MANY_JOBS and not re.search(ONE_JOB, statement.text):
        yield f"asks every machine for {', '.join(spread)}: name the job by `job_id = $n`"


def sets_no_lone_element(statement):
    """Citus 13.2.2 ends with its whole machine where a change of a spread table sets a column to an element of an array."""
    target = statement.target()
    if re.match(r"update\b", statement.text) and CLASSES.get(target) == DISTRIBUTED and re.search(r"= \(?\$\d+(::[\w ]+\[\])?\)?\[", statement.text):
        yield f"sets a column of {target} to an element of an array: join what `unnest` gives"


def is_in_lower_case(statement):
    if found := re.search(r"\b[A-Z]+\b", re.sub(r'"[^"]*"|E?\'\'', "", statement.text)):
        yield f"{found[0]} is not in lower case"


RULES = (
    has_a_class, keys_hold_the_job, has_a_primary_key, has_no_foreign_key, has_no_trigger, identities_are_bigint, conflicts_know_no_clock,
    writes_are_not_volatile, skips_locks_on_local_tables, locks_one_job, notifies_alone, groups_plainly, joins_by_job, keeps_the_job,
    changes_one_class, looks_inward_alone, changes_by_immutable_functions, joins_distributed_tables_first, names_the_job_in_subqueries,
    names_one_job, sets_no_lone_element, is_in_lower_case,
)


# Rules of all migrations together.


def classes_have_tables(statements):
    made = {found[1] for each in statements if (found := re.match(r"create table (?:if not exists )?(\w+)", each.text))}
    for name in sorted(CLASSES.keys() - made - MADE_BY_THE_PROGRAM):
        yield f"{name} is in the table of classes, but nothing makes it"


def payloads_are_external(statements):
    for each, following in zip(statements, [*statements[1:], sql.Statement("", "")]):
        made = re.match(r"create table (\w+)", each.text)
        if made and PAYLOAD in dict(sql.columns_of(each)) and following.text != f"alter table {made[1]} alter column {PAYLOAD} set storage external":
            yield f"{made[1]}: `alter column {PAYLOAD} set storage external` does not come right after it is made"


WHOLE = (classes_have_tables, payloads_are_external)


def citus_faults(text):
    """The points in which the files of migrations/citus differ from the table of classes."""
    made = {}
    for statement in sql.split(re.sub(r"--[^\n]*", "", text), ";"):
        words = " ".join(statement.split())
        if call := re.fullmatch(r"select create_reference_table\('(\w+)'\)", words):
            kind = REFERENCE
        elif call := re.fullmatch(r"select create_distributed_table\('(\w+)', 'job_id'(, colocate_with => 'nodes')?\)", words):
            kind = DISTRIBUTED if call[2] or call[1] == "nodes" else "apart from nodes"
        elif re.fullmatch(r"set local citus\.\w+ to '\w+'", words) or words == TABLE_BYTES:
            continue
        else:
            yield f"migrations/citus does more than to distribute tables: {words}"
            continue
        if call[1] in made:
            yield f"{call[1]} is distributed twice"
        made[call[1]] = kind
    for name, kind in CLASSES.items():
        if made.pop(name, LOCAL) != kind:
            yield f"migrations/citus does not make {name} {kind}"
    yield from (f"migrations/citus names {name}, which has no row in the table of classes" for name in made)


def in_migrations():
    files = sorted((ROOT / "migrations").glob("*.sql"))
    return [each for file in files for each in sql.migration(f"migrations/{file.name}", file.read_text())]


def in_the_program():
    files = sorted((ROOT / "server").rglob("*.cpp")) + sorted((ROOT / "server").rglob("*.h"))
    found = [(str(file.relative_to(ROOT)), file.read_text()) for file in files]
    return [each for place, text in found for each in sql.cpp_statements(place, text) + sql.filled_statements(place, text)]


ALL = in_migrations() + in_the_program()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_statement_keeps_the_rule(rule):
    faults = [f"{each.place}: {sentence}" for each in ALL for sentence in rule(each)]
    assert faults == []


@pytest.mark.parametrize("rule", WHOLE, ids=lambda rule: rule.__name__)
def test_the_migrations_keep_the_rule(rule):
    assert list(rule(ALL)) == []


def test_a_plan_for_any_values_is_forced_in_one_place():
    """Which PostgreSQL alone comes to: Connection leaves the choice to a database that has Citus."""
    files = [*(ROOT / "server").rglob("*.cpp"), *(ROOT / "server").rglob("*.h")]
    assert [file.name for file in files if "force_generic_plan" in file.read_text()] == ["session_settings.h"]


def test_the_files_for_citus_keep_the_classes():
    files = sorted((ROOT / "migrations/citus").glob("*.sql"))
    assert [int(file.name[:4]) for file in files] == list(range(1, len(files) + 1))
    assert list(citus_faults("".join(file.read_text() for file in files))) == []


def test_each_file_about_many_jobs_has_such_a_statement():
    program = in_the_program()
    for place in ABOUT_MANY_JOBS:
        own = [each for each in program if each.place.startswith(place) and of_class(each, DISTRIBUTED)]
        assert any(not re.search(ONE_JOB, each.text) for each in own), place


def test_the_walk_sees_the_statements():
    program = in_the_program()
    assert len(program) >= 230, "the program has more statements than that"
    assert {"frames", "streams", "jobs", "tokens", "rule_tasks", "deliveries"} <= {each.target() for each in program}
    assert any("skip locked" in each.text for each in program)


def test_the_removal_of_a_job_empties_each_table_that_is_spread_by_job():
    place = "server/store/retention/removal_pieces.cpp"
    emptied = {each.target() for each in in_the_program() if each.place.startswith(place) and "job_id = $1" in each.text}
    assert emptied >= {name for name, kind in CLASSES.items() if kind == DISTRIBUTED}
