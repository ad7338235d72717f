-- What a summary of all steps of a rank has to know of a block without reading it: docs/decisions/0012-step-summaries.md.

alter table step_blocks add column summary bytea;  -- null where an older service wrote the block
