-- Webhooks that are told of a finding only once it has lasted: the message waits in the outbox, and is withdrawn when the finding is over.

-- For how long a rule must find something before rule.issues_found is sent; 0 = at once.
alter table webhooks add column after_us bigint not null default 0;

-- Of a rule.issues_found that waits until the finding has lasted: the name of the rule's configuration in the job; else ''.
-- Such a message that is dead without an attempt was withdrawn.
alter table deliveries add column finding_of text not null default '';
create index deliveries_of_findings on deliveries (job_id, finding_of, webhook_id, delivery_id) where finding_of <> '';
