-- The bytes of `data` as text: what a page of logs, and computing something from logs again, costs. Null: written by an
-- earlier version.
alter table logs add column bytes integer;

-- What the client called the log, as in `logs`.
alter table deleted_logs add column sent_client_id text;
