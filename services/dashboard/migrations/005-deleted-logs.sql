-- Client ids of deleted logs. A phone that repeats an upload must not create its log again.
create table deleted_logs (
  account_id uuid        not null,
  client_id  text        not null,
  deleted_at timestamptz not null default now(),
  primary key (account_id, client_id)
);
create index deleted_logs_oldest_first on deleted_logs (deleted_at);
