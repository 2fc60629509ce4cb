-- The request that caused an event, so that the log lines of all its consequences can be found.
alter table outbox add column request_id text;
alter table failed_messages add column request_id text;
