-- Whose nodes are whose before they first send: a token may be for some nodes only, and these are then for such tokens alone.

-- Node names, or beginnings and '*'; empty = all that nobody else has. A service of before makes tokens without.
alter table tokens add column nodes text[] not null default '{}';

-- token, proxy or certificate: a name of one kind is none of another. '' in a row of a service of before: the name is of any kind.
alter table node_bindings add column maker_kind text not null default '';
