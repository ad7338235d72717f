-- Rollups folded over all nodes and devices of a job, for charts of jobs of many nodes. Each chunk that any node has rollups of has its
-- row here. The transaction that changes a node's rollups makes the row stale and holds it until it ends; a fold locks the row before it
-- reads. The columns of a payload are always the same (server/store/job_rollups.cpp).

create table job_rollups (
    job_id bigint not null,
    bin_us bigint not null,
    metric text not null,
    chunk_us bigint not null,                    -- as in rollups
    stale boolean not null default true,         -- to be folded; the nodes' rollups tell until then
    series integer not null default 0,           -- that were folded
    payload bytea not null default '',           -- empty: the nodes' rollups tell
    primary key (job_id, bin_us, metric, chunk_us)
);
alter table job_rollups alter column payload set storage external;
create index job_rollups_stale on job_rollups (job_id, bin_us, chunk_us) where stale;

-- During a rolling upgrade an older program would change rollups and mark nothing: without this column it cannot. What it leaves stays
-- in frames, for a newer one.
alter table rollups add column marked boolean not null default true;
alter table rollups alter column marked drop default;

insert into job_rollups (job_id, bin_us, metric, chunk_us)
select distinct job_id, bin_us, metric, chunk_us
from rollups;
