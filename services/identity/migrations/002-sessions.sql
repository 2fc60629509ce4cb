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
create index sessions_idle_longest on sessions (last_used_at) where ended_at is null;
create index sessions_lately_ended on sessions (ended_at) where ended_at is not null;

-- Tokens are 256 random bits, so a plain digest is enough to find them by.
create table refresh_tokens (
  digest     bytea       primary key,
  session_id uuid        not null references sessions on delete cascade,
  expires_at timestamptz not null,
  used_at    timestamptz
);
create index refresh_tokens_of_session on refresh_tokens (session_id);
create index refresh_tokens_oldest_first on refresh_tokens (expires_at);

create table signing_keys (
  kid        text        primary key,
  sealed     bytea       not null,  -- the private key, encrypted under SECRET
  public_key jsonb       not null,
  signs_from timestamptz not null,
  created_at timestamptz not null default now()
);
