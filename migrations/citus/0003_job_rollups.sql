-- Beside the rollups that they are folded from.

set local citus.multi_shard_modify_mode to 'sequential';

select create_distributed_table('job_rollups', 'job_id', colocate_with => 'nodes');
