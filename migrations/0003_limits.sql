-- From where a change was made, and whose the new jobs and nodes of a day are, so that one token cannot make any number of them.

alter table audit add column peer text not null default '';       -- address of the client; '' at the command line

alter table jobs add column created_by text not null default '';  -- name of the token; '' where tokens are not demanded
create index jobs_by_creator on jobs (created_by, created_us) where created_by <> '';

create index node_bindings_by_token on node_bindings (token_name, bound_us);
