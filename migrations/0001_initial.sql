-- The first tables: jobs and who runs them, what was measured, rules and their verdicts, webhooks and their deliveries.
-- The same SQL runs on PostgreSQL 14 or later and on Citus: bulk tables have job_id first in every key, no foreign keys, no
-- triggers. rule_tasks, webhooks and deliveries stay local tables. All times are microseconds since the epoch.

create table jobs (
    job_id bigint generated always as identity primary key,
    name text not null unique,
    job_group text not null default '',
    status text not null default 'InProgress',
    secondary_status text not null default 'Starting',
    configuration jsonb not null default '{}',  -- interval_ms, tags, rules as asked for
    created_us bigint not null,
    started_us bigint,                           -- first sample or command start
    ended_us bigint,
    failure jsonb,                               -- node, exit_code or signal, output[]
    deliveries bigint not null default 0         -- events sent to webhooks so far: the sequence of the last
);
create index jobs_by_created on jobs (created_us desc, job_id desc);
create index jobs_by_status on jobs (status, created_us desc);

-- A node of a job: one machine.
create table nodes (
    job_id bigint not null,
    node_id bigint generated always as identity,
    name text not null,
    facts jsonb not null default '{}',           -- cores, memory_bytes, gpus[], kernel, agent_version, command[], absent[]
    first_seen_us bigint not null,
    last_seen_us bigint not null,                -- service's clock, at the last stored frame
    clock_offset_us bigint not null default 0,
    round_trip_us bigint not null default 0,
    ended_us bigint,                             -- the command's end, node's clock
    exit_code integer,
    exit_signal integer,
    output jsonb,                                -- last lines of standard error
    primary key (job_id, node_id),
    unique (job_id, name)
);

-- A training process.
create table ranks (
    job_id bigint not null,
    rank integer not null,
    node_id bigint not null,
    facts jsonb not null default '{}',           -- pid, local_rank, world_size, framework, loader facts
    first_seen_us bigint not null,
    ended_us bigint,
    primary key (job_id, rank)
);

-- What the columns of a table are; see Schema in core/model/table.h.
create table schemas (
    job_id bigint not null,
    schema_hash bigint not null,
    content bytea not null,
    primary key (job_id, schema_hash)
);

-- One life of an agent: the cursor that makes a repeated frame a repeated acknowledgement.
create table streams (
    job_id bigint not null,
    session bytea not null,
    node_id bigint not null,
    stored bigint not null default 0,            -- highest sequence number stored or moved past
    lost bigint not null default 0,              -- numbers reported lost by the agent
    rejected bigint not null default 0,          -- numbers refused by the service
    created_us bigint not null,
    primary key (job_id, session)
);

-- One row for each frame with a table, as it came; the compactor will turn them into blocks.
create table frames (
    job_id bigint not null,
    node_id bigint not null,
    session bytea not null,
    sequence bigint not null,
    kind smallint not null,                      -- FrameKind
    rank integer not null,                       -- -1 for ticks
    schema_hash bigint not null,
    from_us bigint not null,                     -- time of the first and the last row
    to_us bigint not null,
    rows integer not null,
    clock_suspect boolean not null default false,
    payload bytea not null,
    primary key (job_id, session, sequence)
);
alter table frames alter column payload set storage external;
create index frames_by_time on frames (job_id, kind, node_id, to_us);

-- One row for each rule that a job is judged by.
create table rule_configs (
    job_id bigint not null,
    rule_config_id bigint generated always as identity,
    name text not null,                          -- unique in the job; the rule's name unless chosen twice
    rule text not null,
    parameters jsonb not null default '{}',      -- all of them, defaults filled in
    primary key (job_id, rule_config_id),
    unique (job_id, name)
);

-- The fold of a rule over the job's data. State, watermark and verdict change in one transaction.
create table rule_states (
    job_id bigint not null,
    rule_config_id bigint not null,
    status text not null default 'InProgress',
    version bigint not null default 0,           -- counts status changes
    state jsonb,
    watermark jsonb not null default '{}',
    revision bigint not null default 0,          -- counts saved states: the guard against a stale evaluator
    verdict jsonb not null default '{}',         -- kind, sentence, share, severity, active, evidence
    evaluated_us bigint,
    changed_us bigint not null,                  -- last change of the status
    primary key (job_id, rule_config_id)
);

-- One stretch of time in which a rule fired.
create table findings (
    job_id bigint not null,
    rule_config_id bigint not null,
    finding bigint not null,                     -- from 1 for each rule of the job
    from_us bigint not null,
    to_us bigint not null,
    node text not null default '',
    device text not null default '',
    rank integer not null default -1,
    sentence text not null,
    evidence jsonb not null default '{}',
    primary key (job_id, rule_config_id, finding)
);

-- The queue of evaluations; one row for each rule of a running job. Local on the coordinator.
create table rule_tasks (
    task_id bigint generated always as identity primary key,
    job_id bigint not null,
    rule_config_id bigint not null,
    state text not null default 'ready',         -- ready, running, done
    due_us bigint not null,                      -- database clock
    lease_until_us bigint not null default 0,
    worker text not null default '',
    fence bigint not null default 0,
    attempt integer not null default 0,
    error text not null default '',
    unique (job_id, rule_config_id)
) with (fillfactor = 70);
create index rule_tasks_due on rule_tasks (due_us) where state <> 'done';

-- Each change of a status, of the job (rule_config_id 0) or of a rule.
create table status_transitions (
    job_id bigint not null,
    rule_config_id bigint not null default 0,
    version bigint not null,
    status text not null,
    secondary_status text not null default '',
    at_us bigint not null,
    detail text not null default '',
    primary key (job_id, rule_config_id, version)
);

-- What happened to a job, for people: agent started, rank connected, frames lost, ...
create table events (
    job_id bigint not null,
    event_id bigint generated always as identity,
    at_us bigint not null,
    kind text not null,
    node text not null default '',
    detail jsonb not null default '{}',
    primary key (job_id, event_id)
);
create index events_by_time on events (job_id, at_us);

create table webhooks (
    webhook_id bigint generated always as identity primary key,
    url text not null,
    events text[] not null,                      -- which events to send; empty = all
    secret_sealed bytea not null,                -- AES-256-GCM with the key file of the data folder
    enabled boolean not null default true,
    note text not null default '',               -- why it was disabled
    created_us bigint not null
);

-- The outbox: written in the transaction that changed the status.
create table deliveries (
    delivery_id bigint generated always as identity primary key,
    webhook_id bigint not null,
    job_id bigint not null default 0,
    event text not null,
    sequence bigint not null default 0,          -- counts the events of a job
    body text not null,
    state text not null default 'ready',         -- ready, running, delivered, dead
    due_us bigint not null,
    lease_until_us bigint not null default 0,
    fence bigint not null default 0,
    attempts jsonb not null default '[]',        -- at, status, duration_ms, answer or error
    created_us bigint not null,
    delivered_us bigint
) with (fillfactor = 70);
create index deliveries_due on deliveries (due_us) where state in ('ready', 'running');
create index deliveries_by_job on deliveries (job_id, delivery_id);
