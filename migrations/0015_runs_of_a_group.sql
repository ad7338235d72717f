-- A job is compared with the newest runs of its group.

create index jobs_by_group on jobs (job_group, ended_us desc) where job_group <> '' and ended_us is not null;
