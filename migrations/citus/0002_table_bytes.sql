-- The size of a table with all its shards, on all machines.

create or replace function table_bytes(name regclass) returns bigint
    language sql
    as 'select citus_total_relation_size(name)';
