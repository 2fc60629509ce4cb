create table idempotency_keys (
  account_id uuid        not null,
  key        text        not null,
  request    text        not null,  -- a digest of method, path and body: another request under the same key is refused
  answer     jsonb,
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);
create index idempotency_keys_oldest_first on idempotency_keys (created_at);
