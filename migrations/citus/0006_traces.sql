-- Beside the windows that they are of.

set local citus.multi_shard_modify_mode to 'sequential';

select create_distributed_table('traces', 'job_id', colocate_with => 'nodes');
select create_distributed_table('trace_parts', 'job_id', colocate_with => 'nodes');
