-- Statistics of annotations: what the frames of each push say of a name, merged over a window. The compactor moves rows of `frames` here
-- in one transaction, as it does with steps. The names stand in the schema.

-- One rank in one window of 600 s since the epoch.
create table annotation_blocks (
    job_id bigint not null,
    rank integer not null,
    window_us bigint not null,                   -- begin of the window; a row counts where it begins
    schema_hash bigint not null,
    from_us bigint not null,                     -- begin of the first row, end of the last
    to_us bigint not null,
    rows integer not null,
    payload bytea not null,
    primary key (job_id, rank, window_us)
);
alter table annotation_blocks alter column payload set storage external;
