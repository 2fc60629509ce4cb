create table devices (
  id           uuid        primary key default uuidv7(),
  account_id   uuid        not null,
  session_id   uuid        not null,
  token        text        not null unique,
  platform     text        not null check (platform in ('android', 'ios')),
  device_id    text,
  device_name  text,
  app_version  text,
  last_used_at timestamptz not null default now(),
  created_at   timestamptz not null default now()
);
create unique index devices_one_token_per_device on devices (account_id, device_id) where device_id is not null;
create index devices_last_used_first on devices (account_id, last_used_at desc);
create index devices_by_session on devices (session_id);
create index devices_oldest_use_first on devices (last_used_at);

-- Sessions whose access tokens may still be in use. No device can be registered with one of them.
create table ended_sessions (
  session_id uuid        primary key,
  ended_at   timestamptz not null default now()
);
create index ended_sessions_oldest_first on ended_sessions (ended_at);
