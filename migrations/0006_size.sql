-- What the tables take on disk. One function, because the size of a table that Citus spreads is not what pg_total_relation_size says:
-- migrations/citus puts another body in its place.

create function table_bytes(name regclass) returns bigint
    language sql
    as 'select pg_total_relation_size(name)';

comment on column removals.reason is 'deleted, age, size';
comment on column jobs.samples_from_us is 'earlier ones were removed, for their age or for the size of all; rollups stay';
