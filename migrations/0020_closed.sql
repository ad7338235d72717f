-- When a job ended by the service's clock: its age, and which of two runs was before, go by it. The clock of a node may be years off.
-- A service of before does not write it.
alter table jobs add column closed_us bigint;
update jobs set closed_us = greatest(ended_us, created_us) where ended_us is not null;

-- Whether any node of a job still runs its command is asked when one of them ends.
create index nodes_running on nodes (job_id) where ended_us is null and facts <> '{}';
