-- What a rule has seen is bytes: read and written at each of its turns by its program alone. They count for the revision that they were
-- saved with: an older version of the program keeps its own in `state`, as text, and raises the revision. Where this PostgreSQL has it,
-- the quicker compression.

alter table rule_states
    add column saved bytea,
    add column saved_revision bigint not null default 0;
do $$
begin
    if (select 'lz4' = any(enumvals) from pg_settings where name = 'default_toast_compression') then
        alter table rule_states alter column saved set compression lz4;
    end if;
end
$$;
