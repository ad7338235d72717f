-- Windows of operators in which the shapes of their inputs are recorded, too.

alter table windows add column shapes boolean not null default false;

-- Of the newest window of the job, as its other columns.
alter table jobs add column window_shapes boolean not null default false;
