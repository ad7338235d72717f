-- What frames become: blocks of 600 s of one metric of one node, rollups of them, blocks of steps. The compactor moves rows of
-- `frames` here in one transaction, so a reader's snapshot holds each sample once.

-- One metric of one node, all its devices, in one window of 600 s since the epoch.
create table blocks (
    job_id bigint not null,
    node_id bigint not null,
    window_us bigint not null,                   -- begin of the window
    metric text not null,
    schema_hash bigint not null,                 -- "at_us", then the metric's devices
    from_us bigint not null,                     -- time of the first and the last row
    to_us bigint not null,
    rows integer not null,
    clock_suspect boolean not null default false,
    payload bytea not null,
    primary key (job_id, node_id, window_us, metric)
);
alter table blocks alter column payload set storage external;

-- Count, least, greatest and sum of the same in bins of 10 s, 60 s or 600 s; a row holds many bins.
create table rollups (
    job_id bigint not null,
    node_id bigint not null,
    metric text not null,
    bin_us bigint not null,                      -- width of a bin
    chunk_us bigint not null,                    -- begin of the row's time
    schema_hash bigint not null,                 -- the devices, as in blocks
    payload bytea not null,
    primary key (job_id, bin_us, metric, node_id, chunk_us)
);
alter table rollups alter column payload set storage external;

-- Up to 4,096 steps of one rank, in the order of their start.
create table step_blocks (
    job_id bigint not null,
    rank integer not null,
    step_block_id bigint generated always as identity,
    schema_hash bigint not null,
    from_us bigint not null,                     -- start of the first and the last step
    to_us bigint not null,
    rows integer not null,
    payload bytea not null,
    primary key (job_id, step_block_id)
);
alter table step_blocks alter column payload set storage external;
create index step_blocks_by_time on step_blocks (job_id, rank, to_us);

-- Jobs that have frames to compact. Local on the coordinator.
create table compact_tasks (
    job_id bigint primary key,
    due_us bigint not null,                      -- database clock
    lease_until_us bigint not null default 0,
    worker text not null default '',
    fence bigint not null default 0
) with (fillfactor = 70);
create index compact_tasks_due on compact_tasks (due_us);
