-- A rule that is judged anew, because its parameters changed or its state no longer loads, says again what it said before until it has
-- caught up with what is stored. What was told of it before stays here meanwhile, so that nothing is told twice: status, active. Null
-- when it is not behind.

alter table rule_states add column told jsonb;
