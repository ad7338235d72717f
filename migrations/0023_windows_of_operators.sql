-- Windows of operators: agents ask the training processes for what PyTorch's profiler records, and send the files
-- (docs/decisions/0055-capture.md). Such a window has the source 'operators' and takes traces like one that was imported.

-- Whether the newest window of a job, which is told with each push, is of operators too.
alter table jobs add column window_operators boolean not null default false;
