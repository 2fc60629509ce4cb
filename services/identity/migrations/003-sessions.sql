create table sessions (
  id           uuid        primary key default uuidv7(),
  account_id   uuid        not null references accounts on delete cascade,
  device_info  text,
  device_name  text,
  platform     text,
  app_version  text,
  ip_address   text        not null,  -- masked before it is written
  created_at   timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  ended_at     timestamptz
);
create index sessions_last_used_first on sessions (account_id, last_used_at desc);
create index sessions_longest_idle_first on sessions (last_used_at) where ended_at is null;
create index sessions_recently_ended on sessions (ended_at) where ended_at is not null;

-- Tokens are 256 random bits, so an unsalted digest is enough to look them up.
create table refresh_tokens (
  digest     bytea       primary key,
  session_id uuid        not null references sessions on delete cascade,
  expires_at timestamptz not null,
  used_at    timestamptz
);
create index refresh_tokens_by_session on refresh_tokens (session_id);
create index refresh_tokens_oldest_first on refresh_tokens (expires_at);

-- The access token of a refresh that can be repeated with its idempotency key. The new refresh token is part of the encryption key.
create table refresh_responses (
  digest                 bytea       primary key references refresh_tokens on delete cascade,  -- of the new refresh token
  encrypted_access_token bytea       not null,
  created_at             timestamptz not null default now()
);
create index refresh_responses_oldest_first on refresh_responses (created_at);

create table signing_keys (
  kid                   text        primary key,
  encrypted_private_key bytea       not null,  -- with SECRET
  public_key            jsonb       not null,
  signs_from            timestamptz not null,
  created_at            timestamptz not null default now()
);
