-- Who may do what: tokens and the browsers that signed in with them, the record of changes, and whose data a node's is.
-- All are small local tables, on PostgreSQL and on Citus alike.

-- A token is shown once, when it is made; what is kept cannot be turned back into it.
create table tokens (
    token_id text primary key,                   -- the eight letters in its text
    name text not null,                          -- of the person or machine; rotation keeps it
    role text not null,                          -- agent, reader, operator, admin
    scopes text[] not null default '{}',         -- job names, or beginnings and '*'; empty = all jobs
    secret_hash bytea not null,                  -- SHA-256
    created_us bigint not null,
    created_by text not null,                    -- name of the token, or of the user at the command line
    expires_us bigint not null,
    last_used_us bigint,                         -- at most a minute old while it is in use
    revoked_us bigint
);
create index tokens_by_created on tokens (created_us desc, token_id desc);

-- A browser that signed in. It lives as long as its token at most.
create table sessions (
    session_hash bytea primary key,              -- SHA-256 of the cookie
    token_id text not null,
    created_us bigint not null,
    last_used_us bigint not null,                -- 12 h without use end it
    expires_us bigint not null
);
create index sessions_by_token on sessions (token_id);

-- Each change that somebody made through the API or the command line; written in the transaction of the change.
create table audit (
    audit_id bigint generated always as identity primary key,
    at_us bigint not null,
    token_id text not null default '',           -- '' where tokens are not demanded, and for certificates and proxies
    name text not null,
    action text not null,                        -- job.create, token.revoke, ...
    target text not null default '',             -- name or number of what was changed
    request_id text not null default ''          -- also in the answer and the log
);

-- The name of the token that sent a node's data first; no other name may.
create table node_bindings (
    node text primary key,
    token_name text not null,
    bound_us bigint not null
);
