"""The rules of sql_rules_test.py can fail: what each refuses, and what it lets pass though it looks alike."""

import pytest

from tests.sql_rules_test import (
    RULES, changes_by_immutable_functions, changes_one_class, citus_faults, classes_have_tables, conflicts_know_no_clock, groups_plainly, has_a_class, has_a_primary_key,
    has_no_foreign_key, has_no_trigger, identities_are_bigint, is_in_lower_case, joins_by_job,
    joins_distributed_tables_first, keeps_the_job, keys_hold_the_job, locks_one_job, looks_inward_alone, names_one_job, names_the_job_in_subqueries,
    notifies_alone,
    payloads_are_external, sets_no_lone_element, skips_locks_on_local_tables, writes_are_not_volatile,
)
from tests.support import sql

NODES = "create table nodes (job_id bigint, {}, primary key (job_id, node_id));"
PAYLOAD_TABLE = "create table frames (job_id bigint, payload bytea, primary key (job_id))"
REFUSED = [
    (has_a_class, "create table spans (job_id bigint primary key)", "spans has no row in the table of classes"),
    (has_a_class, "select 1 from jobs join spans using (job_id)", "spans has no row in the table of classes"),
    (keys_hold_the_job, "create table nodes (node_id bigint, job_id bigint, primary key (node_id, job_id))", "the primary key of nodes does not begin with job_id"),
    (keys_hold_the_job, "create table nodes (node_id bigint primary key, job_id bigint)", "the primary key of nodes does not begin with job_id"),
    (keys_hold_the_job, NODES.format("name text unique"), "a unique key of nodes lacks job_id"),
    (keys_hold_the_job, NODES.format("name text, unique (name)"), "a unique key of nodes lacks job_id"),
    (keys_hold_the_job, "create unique index nodes_by_name on nodes (name)", "a unique key of nodes lacks job_id"),
    (keys_hold_the_job, "alter table nodes add constraint named unique (name)", "a unique key of nodes lacks job_id"),
    (keys_hold_the_job, "alter table nodes add column name text unique", "a unique key of nodes lacks job_id"),
    (has_a_primary_key, "create table nodes (job_id bigint)", "nodes has no primary key"),
    (has_no_foreign_key, "create table ranks (job_id bigint primary key references jobs)", "has a foreign key"),
    (has_no_foreign_key, "alter table ranks add foreign key (job_id) references jobs (job_id)", "has a foreign key"),
    (has_no_trigger, "create trigger touch before update on nodes execute function touch()", "has a trigger"),
    (identities_are_bigint, NODES.format("node_id integer generated always as identity"), "node_id is an identity that is not a bigint"),
    (identities_are_bigint, NODES.format("node_id bigserial"), "node_id is an identity that is not a bigint"),
    (conflicts_know_no_clock, "insert into nodes values ($1) on conflict (job_id, name) do update set last_seen_us = now()", "reads a clock in `on conflict`: bind the time"),
    (conflicts_know_no_clock, "insert into nodes values ($1) on conflict (job_id) do update set a = 1 where current_timestamp > $2", "reads a clock in `on conflict`: bind the time"),
    (writes_are_not_volatile, "update nodes set last_seen_us = clock_timestamp() where job_id = $1", "changes nodes by a volatile function"),
    (writes_are_not_volatile, "delete from frames where random() < 0.5", "changes frames by a volatile function"),
    (skips_locks_on_local_tables, "select 1 from frames where job_id = $1 for update skip locked", "`skip locked` beside frames: only local tables"),
    (skips_locks_on_local_tables, "select 1 from jobs for update skip locked", "`skip locked` beside jobs: only local tables"),
    (locks_one_job, "select stored from streams where job_id = any($1) for update", "locks rows of streams without `job_id = $n`"),
    (locks_one_job, "select stored from streams for no key update", "locks rows of streams without `job_id = $n`"),
    (notifies_alone, "select pg_notify('moved', name) from nodes", "pg_notify beside nodes"),
    (groups_plainly, "select 1 from nodes group by grouping sets ((name), ())", "grouping sets, cube or rollup"),
    (groups_plainly, "select 1 from nodes group by rollup (name)", "grouping sets, cube or rollup"),
    (joins_by_job, "select 1 from frames join blocks using (node_id) where job_id = $1", "joins blocks without job_id"),
    (joins_by_job, "select 1 from nodes n join ranks r on n.node_id = r.node_id", "joins ranks without job_id"),
    (joins_by_job, "select 1 from nodes n, ranks r where n.node_id = r.node_id", "joins ranks without job_id"),
    (joins_by_job, "(select 1 from nodes n join ranks r on n.node_id = r.node_id) union all (select 1 from jobs)", "joins ranks without job_id"),
    (joins_by_job, "insert into findings select 1 from nodes n, ranks r where n.node_id = r.node_id", "joins ranks without job_id"),
    (keeps_the_job, "update nodes set name = $1, job_id = $2 where node_id = $3", "sets job_id"),
    (keeps_the_job, "insert into nodes values ($1) on conflict (name) do update set job_id = excluded.job_id", "sets job_id"),
    (changes_one_class, "update rule_tasks set state = 'done' from rule_configs c where name = $1", "changes rule_tasks, which is local, by rule_configs"),
    (changes_one_class, "delete from compact_tasks where job_id in (select job_id from frames)", "changes compact_tasks, which is local, by frames"),
    (changes_one_class, "update nodes set name = '' from tokens where token_id = $1", "changes nodes by tokens, which is local"),
    (names_one_job, "select 1 from nodes n join ranks r on r.job_id = n.job_id where n.name = $1", "asks every machine for nodes, ranks: name the job by `job_id = $n`"),
    (names_one_job, "update frames set kind = $1 where node_id = $2", "asks every machine for frames: name the job by `job_id = $n`"),
    (names_one_job, "delete from blocks where node_id = $1", "asks every machine for blocks: name the job by `job_id = $n`"),
    (names_one_job, "select 1 from streams where job_id = any($1)", "asks every machine for streams: name the job by `job_id = $n`"),
    (sets_no_lone_element, "update streams set stored = ($3::bigint[])[array_position($2::bytea[], session)] where job_id = $1 and session = any($2::bytea[])",
     "sets a column of streams to an element of an array: join what `unnest` gives"),
    (looks_inward_alone, "select 1 from jobs where exists (select 1 from nodes n where n.job_id = jobs.job_id)", "a subquery over nodes depends on jobs"),
    (looks_inward_alone, "select (select count(*) from nodes n where n.job_id = j.job_id) from jobs j", "a subquery over nodes depends on jobs"),
    # The statements that Citus 12.1 and 13.2 refused, and those that asked every shard.
    (changes_by_immutable_functions,
     "update nodes set facts = $3::jsonb || jsonb_strip_nulls(jsonb_build_object('last_command', facts -> 'last_command')) where job_id = $1 and node_id = $2",
     "changes nodes by jsonb_build_object, which is stable, of its columns"),
    (changes_by_immutable_functions,
     "update rule_states set told = coalesce(told, jsonb_build_object('status', $2::text)) where job_id = $1",
     "changes rule_states by jsonb_build_object, which is stable, within coalesce or case"),
    (changes_by_immutable_functions,
     "update rule_states set told = coalesce(told, jsonb_build_object('status', status, 'active', verdict -> 'active')) where job_id = $1",
     "changes rule_states by jsonb_build_object, which is stable, of its columns"),
    (changes_by_immutable_functions,
     "update rule_states s set told = case when given.progress = 'begins' then jsonb_build_object('status', s.status) end "
     "from unnest($2::bigint[], $3::text[]) as given (rule_config_id, progress) where s.job_id = $1 and s.rule_config_id = given.rule_config_id",
     "changes rule_states by jsonb_build_object, which is stable, of its columns"),
    (changes_by_immutable_functions,
     "update jobs set configuration = configuration || jsonb_build_object('intervals', coalesce(configuration -> 'intervals', '[]')) where job_id = $1",
     "changes jobs by jsonb_build_object, which is stable, of its columns"),
    (joins_distributed_tables_first,
     "select 1 from jobs join rule_configs c using (job_id) join rule_states s using (job_id, rule_config_id) where job_group = $1",
     "joins rule_configs and rule_states behind jobs: put them first"),
    (names_the_job_in_subqueries,
     "select (select from_us from frames f where f.job_id = n.job_id and kind = 1 order by to_us limit 1) from nodes n where job_id = $1",
     "a subquery over frames takes its job from n: name it by `job_id = $n`"),
    (is_in_lower_case, "select 1 FROM nodes", "FROM is not in lower case"),
]
KEPT = [
    (keys_hold_the_job, "create table jobs (job_id bigint primary key, name text unique)"),
    (keys_hold_the_job, "create unique index nodes_by_name on nodes (job_id, name)"),
    (identities_are_bigint, NODES.format("node_id bigint generated always as identity")),
    (conflicts_know_no_clock, "insert into audit values (now()) on conflict do nothing"),
    (skips_locks_on_local_tables, "select 1 from rule_tasks for update skip locked"),
    (locks_one_job, "select 1 from streams where job_id = $1 for update"),
    (notifies_alone, "select pg_notify('moved', $1)"),
    (groups_plainly, "select 1 from rollups"),
    (joins_by_job, "select 1 from nodes n join ranks r on r.job_id = n.job_id"),
    (joins_by_job, "select 1 from nodes join jobs using (name)"),
    (joins_by_job, "least((select 1 from frames f where f.job_id = n.job_id), (select 1 from blocks b where b.job_id = n.job_id))"),
    (keeps_the_job, "update nodes set name = $1 where job_id = $2"),
    (changes_one_class, "insert into rule_tasks (job_id) select job_id from rule_configs"),
    (looks_inward_alone, "select 1 from jobs where job_id in (select job_id from nodes)"),
    (changes_by_immutable_functions, "update jobs set configuration = configuration || jsonb_build_object('rules', $2::jsonb) where job_id = $1"),
    (changes_by_immutable_functions, "update deliveries set attempts = attempts || jsonb_build_array(attempt)"),
    (joins_distributed_tables_first, "select 1 from rule_configs c join rule_states s using (job_id, rule_config_id) join jobs using (job_id)"),
    (joins_distributed_tables_first, "select 1 from jobs join nodes using (job_id)"),
    (names_the_job_in_subqueries, "select (select from_us from frames f where f.job_id = $1 limit 1) from nodes n where job_id = $1"),
    (names_the_job_in_subqueries, "select 1 from (select 1 from nodes n join ranks r on r.job_id = n.job_id) as x"),
    (is_in_lower_case, "select 1 from jobs where status = 'InProgress'"),
]


@pytest.mark.parametrize("rule, text, sentence", REFUSED, ids=[text for _, text, _ in REFUSED])
def test_what_breaks_a_rule_is_named(rule, text, sentence):
    assert [found for each in sql.migration("", text) for found in rule(each)] == [sentence]


@pytest.mark.parametrize("rule, text", KEPT, ids=[text for _, text in KEPT])
def test_what_keeps_a_rule_passes(rule, text):
    assert [found for each in sql.migration("", text) for found in rule(each)] == []


def test_each_rule_of_a_statement_is_shown_what_it_refuses():
    assert set(RULES) == {rule for rule, _, _ in REFUSED}


def test_a_class_without_a_table_is_named():
    assert "nodes is in the table of classes, but nothing makes it" in list(classes_have_tables(sql.migration("", PAYLOAD_TABLE)))


@pytest.mark.parametrize("text, sentence", [
    ("", "migrations/citus does not make jobs reference"),
    ("select create_distributed_table('tokens', 'job_id', colocate_with => 'nodes');", "migrations/citus does not make tokens local"),
    ("select create_distributed_table('ranks', 'job_id');", "migrations/citus does not make ranks distributed"),
    ("select create_distributed_table('ranks', 'rank');",
     "migrations/citus does more than to distribute tables: select create_distributed_table('ranks', 'rank')"),
    ("drop table ranks;", "migrations/citus does more than to distribute tables: drop table ranks"),
    ("select create_reference_table('jobs');" * 2, "jobs is distributed twice"),
    ("select create_reference_table('spans');", "migrations/citus names spans, which has no row in the table of classes"),
])
def test_files_for_citus_that_say_otherwise_are_named(text, sentence):
    assert sentence in list(citus_faults(text))


@pytest.mark.parametrize("behind", ["", "; create table other (job_id bigint)", "; alter table frames alter column payload set storage main"])
def test_a_payload_that_postgresql_would_compress_is_named(behind):
    assert len(list(payloads_are_external(sql.migration("", PAYLOAD_TABLE + behind)))) == 1


def test_statements_are_found_in_every_kind_of_string():
    source = r"""
constexpr char kOne[] = R"(
select 1
from jobs)";  // "select 2 from comment"
int ten = 10'000;
Format("select {} from nodes "
       "where job_id = $1", '"', "from here on");
Format("(select 1 from nodes)", "least((select 2 from nodes), 3)", "unnest($1::text[]) as a", "(selected)", "at least (one)");
"""
    assert [(each.place, each.text) for each in sql.cpp_statements("a.cpp", source)] == [
        ("a.cpp:2", "select 1 from jobs"), ("a.cpp:6", "select {} from nodes where job_id = $1"),
        ("a.cpp:8", "(select 1 from nodes)"), ("a.cpp:8", "least((select 2 from nodes), 3)"), ("a.cpp:8", "unnest($1::text[]) as a")]


def test_statements_are_made_of_a_text_and_the_rows_of_its_table():
    source = r"""
constexpr char kPieceText[] = "delete from {0} where {1} = $1";
constexpr PieceTable kPieceTables[] = {
    {"nodes", "node_id"},  // each
    {"jobs", "job_id"},
};
constexpr char kSmallText[] = R"(delete from {0})";
constexpr const char* kSmallTables[] = {"ranks", "streams"};
constexpr char kOtherText[] = "delete from {0}";
"""
    assert [each.text for each in sql.filled_statements("a.cpp", source)] == [
        "delete from nodes where node_id = $1", "delete from jobs where job_id = $1", "delete from ranks", "delete from streams"]
