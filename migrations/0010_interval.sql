-- A change of a job's interval is told to each stream until its agent has answered it: the number of the last change it answered. The
-- changes themselves stand in the job's configuration, as "intervals".

alter table streams add column interval_answered bigint not null default 0;
