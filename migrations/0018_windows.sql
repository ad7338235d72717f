-- Windows: the steps of which people asked for every span of an annotation, and the spans. A window is a number of its job; it is told
-- to each stream until its agent has answered it (docs/decisions/0042-windows-of-spans.md).

-- The newest of a job, which is told with each push: its number, its steps, and until when it is told.
alter table jobs
    add column window_requests bigint not null default 0,
    add column window_start_step bigint not null default 0,
    add column window_num_steps bigint not null default 0,
    add column window_until_us bigint not null default 0;
alter table streams add column window_answered bigint not null default 0;

create table windows (
    job_id bigint not null,
    window_id bigint not null,                   -- from 1 in each job
    start_step bigint not null,
    num_steps bigint not null,
    asked_us bigint not null,
    until_us bigint not null,                    -- agents give up then
    spans bigint not null default 0,             -- that came, also those that retention has removed
    primary key (job_id, window_id)
);

-- What an agent said of a window when it was over.
create table window_answers (
    job_id bigint not null,
    window_id bigint not null,
    session bytea not null,
    node_id bigint not null,
    at_us bigint not null,
    recorded boolean not null,                   -- false: refused
    reason text not null,                        -- of a refusal; else what is worth knowing, or nothing
    spans bigint not null,
    dropped bigint not null,                     -- spans that found no room
    primary key (job_id, window_id, session)
);

-- The spans of a rank as a frame brought them.
create table span_blocks (
    job_id bigint not null,
    window_id bigint not null,
    rank integer not null,
    session bytea not null,
    sequence bigint not null,
    schema_hash bigint not null,
    from_us bigint not null,                     -- begin of the first, end of the last
    to_us bigint not null,
    rows integer not null,
    payload bytea not null,
    primary key (job_id, window_id, rank, session, sequence)
);
alter table span_blocks alter column payload set storage external;
