-- Beside the frames that they are made of.

set local citus.multi_shard_modify_mode to 'sequential';

select create_distributed_table('annotation_blocks', 'job_id', colocate_with => 'nodes');
