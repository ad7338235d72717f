-- Windows that nobody asked for by REST: the script or the agent's configuration has them, or the service asks by itself.

-- 'person' (REST, or an import), 'script', 'start_profiling', 'schedule', 'early' or the name of a rule.
alter table windows add column asked_by text not null default 'person';

-- Why the service asked for no window by itself when it last thought of one; '' where it may, or has no reason to.
alter table jobs add column window_note text not null default '';
