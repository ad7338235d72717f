-- Applied after the others, and only where the extension citus is installed: the rows of a job lie on one machine, side by side.
-- jobs has a copy on each machine, since the name of a job is unique by itself. Tables that are not named here stay local, on the
-- coordinator. One shard after the other: a transaction that has written to many at once may not make another table.

set local citus.multi_shard_modify_mode to 'sequential';

select create_reference_table('jobs');

select create_distributed_table('nodes', 'job_id');
select create_distributed_table('ranks', 'job_id', colocate_with => 'nodes');
select create_distributed_table('schemas', 'job_id', colocate_with => 'nodes');
select create_distributed_table('streams', 'job_id', colocate_with => 'nodes');
select create_distributed_table('frames', 'job_id', colocate_with => 'nodes');
select create_distributed_table('blocks', 'job_id', colocate_with => 'nodes');
select create_distributed_table('rollups', 'job_id', colocate_with => 'nodes');
select create_distributed_table('step_blocks', 'job_id', colocate_with => 'nodes');
select create_distributed_table('rule_configs', 'job_id', colocate_with => 'nodes');
select create_distributed_table('rule_states', 'job_id', colocate_with => 'nodes');
select create_distributed_table('findings', 'job_id', colocate_with => 'nodes');
select create_distributed_table('status_transitions', 'job_id', colocate_with => 'nodes');
select create_distributed_table('events', 'job_id', colocate_with => 'nodes');
