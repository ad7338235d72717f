-- A request to stop a job is told to each stream until its agent has answered it: how often the job was asked to stop, and the number of
-- the last request that the agent answered.

alter table jobs add column stop_requests bigint not null default 0;
alter table streams add column stop_answered bigint not null default 0;
