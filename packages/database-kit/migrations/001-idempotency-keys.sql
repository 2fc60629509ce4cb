create table idempotency_keys (
  account_id     uuid        not null,
  key            text        not null,
  request_digest text        not null,  -- of method, path and body; a different request with the same key is rejected
  response       jsonb,
  created_at     timestamptz not null default now(),
  primary key (account_id, key)
);
create index idempotency_keys_oldest_first on idempotency_keys (created_at);
