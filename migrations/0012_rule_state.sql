-- What a rule has seen is written anew at each of its turns, and only its program reads it: it is text. So are, where this PostgreSQL
-- has it, the quicker compression of it and of what the rule says; what is stored before stays as it is.

alter table rule_states alter column state type text using state::text;
do $$
begin
    if (select 'lz4' = any(enumvals) from pg_settings where name = 'default_toast_compression') then
        alter table rule_states
            alter column state set compression lz4,
            alter column verdict set compression lz4;
    end if;
end
$$;
