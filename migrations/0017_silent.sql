-- Silence is told once to webhooks, of a node (agent.silent) and of a job (job.stalled): the last_seen_us with which the silence began
-- that was told; 0 before the first.

alter table nodes
    add column silent_told_us bigint not null default 0,
    add column stalled_told_us bigint not null default 0;
