-- What is removed, by whom it was asked or by its age. A job that is removed is gone from `jobs` at once, so nobody finds it any more; its
-- other rows go piece by piece. Local on the coordinator.

create table removals (
    job_id bigint primary key,
    name text not null,                          -- as it was
    reason text not null,                        -- deleted, age
    asked_us bigint not null,
    rows bigint not null default 0,              -- removed so far
    bytes bigint not null default 0,             -- of their payloads
    quiet_us bigint,                             -- since when nothing was left
    ended_us bigint
);
create index removals_open on removals (asked_us) where ended_us is null;

alter table jobs add column samples_from_us bigint;  -- earlier ones were removed for their age; rollups stay
