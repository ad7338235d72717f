-- A claim changes no column of an index, also none of its condition: so it leaves nothing in them. What is done is never due.
-- Each turn leaves two old rows of a task; room for them in its page, and vacuum before they are many.

alter table rule_tasks alter column due_us drop not null;
update rule_tasks set due_us = null where state = 'done';
drop index rule_tasks_due;
create index rule_tasks_due on rule_tasks (due_us) where due_us is not null;
alter table rule_tasks set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
