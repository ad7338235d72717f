-- Traces of a profiler: windows of which operators, kernels, copies and launches are known (docs/windows.md). Such a window is a number of
-- its job like any other, but no agent is asked for it.

alter table windows add column source text not null default 'asked';  -- 'asked' of agents, or 'trace'

-- A trace file: what one rank did in a window. Stays when retention has removed its parts.
create table traces (
    job_id bigint not null,
    window_id bigint not null,
    rank integer not null,
    file text not null,                          -- its name where it came from
    digest bytea not null,                       -- SHA-256 of the bytes that were sent
    received_us bigint not null,
    from_us bigint not null,                     -- begin of the first span, end of the last; since the epoch, or as the file has it
    to_us bigint not null,
    spans bigint not null,
    summary jsonb not null,                      -- tracks, steps, what was recorded, what could not be read
    primary key (job_id, window_id, rank)
);

-- What a trace was taken apart into: blocks of spans of a track, names, and the answers that were computed of it.
create table trace_parts (
    job_id bigint not null,
    window_id bigint not null,
    rank integer not null,
    part text not null,                          -- 'spans', 'names', 'details', 'memory', or an answer: 'kernels'
    track integer not null,                      -- of spans; else 0
    number integer not null,                     -- of several parts of a kind, from 0
    from_ns bigint not null,                     -- of spans: the first begin and the last end, since the first span of the trace
    to_ns bigint not null,
    size bigint not null,                        -- rows of a table, or bytes of a text
    kept_us bigint not null,                     -- the time by which retention goes
    payload bytea not null,
    primary key (job_id, window_id, rank, part, track, number)
);
alter table trace_parts alter column payload set storage external;
