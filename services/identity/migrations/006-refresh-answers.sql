-- The access token of a refresh that may be repeated under its idempotency key, encrypted with the new refresh token as part of the key.
create table refresh_answers (
  digest     bytea       primary key references refresh_tokens on delete cascade,  -- of the new refresh token
  sealed     bytea       not null,
  created_at timestamptz not null default now()
);
create index refresh_answers_oldest_first on refresh_answers (created_at);
