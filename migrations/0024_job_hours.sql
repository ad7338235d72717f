-- What the GPUs of a job were held for, one row a job: the fleet is added up from these rows, never from samples. Written again while a job
-- runs and until its last rule has had its turn; the program can make each row again. Local on the coordinator, since it is read whole.

create table job_hours (
    job_id bigint primary key,
    name text not null,
    job_group text not null,
    user_name text not null,                     -- '' where no agent knows it
    account text not null,
    gpu text not null,                           -- model of the first GPU; '' without GPUs
    nodes integer not null,
    gpus integer not null,
    from_us bigint,                              -- first sample; null before it
    to_us bigint,                                -- end, or the newest frame of a job that runs
    ended boolean not null,
    judged_seconds double precision,             -- of GPUs, divided by cause; null: nothing was judged
    busy_seconds double precision not null default 0,
    lost_seconds jsonb not null default '{}',    -- by cause
    verdict text not null,                       -- issues, none, unknown
    issues integer not null default 0,           -- rules that found something
    price double precision not null default 0,   -- of an hour of a GPU; 0: not set
    sentence text not null default '',
    settled boolean not null,                    -- nothing is expected to change it
    written_us bigint not null
);
create index job_hours_by_writing on job_hours (written_us);

-- The end of the last week that a webhook was told of (event fleet.weekly).
alter table webhooks add column weekly_until_us bigint not null default 0;
