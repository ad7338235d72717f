-- Beside the frames and streams that they come with.

set local citus.multi_shard_modify_mode to 'sequential';

select create_distributed_table('windows', 'job_id', colocate_with => 'nodes');
select create_distributed_table('window_answers', 'job_id', colocate_with => 'nodes');
select create_distributed_table('span_blocks', 'job_id', colocate_with => 'nodes');
