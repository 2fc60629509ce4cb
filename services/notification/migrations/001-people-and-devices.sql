-- A copy of how people appear and are spoken to; the profile service owns them.
create table people (
  account_id uuid        primary key,
  name       text        not null,
  image      text,
  locale     text        not null,
  timezone   text        not null,
  changed_at timestamptz not null
);

-- Who does not exist for whom. A block that was lifted stays for a while, so that late news of it are known to be late.
create table blocks (
  blocker_id uuid        not null,
  blocked_id uuid        not null,
  lifted     boolean     not null,
  changed_at timestamptz not null,
  primary key (blocker_id, blocked_id)
);

-- One row for everybody. Whatever changes his unread count or his devices waits here, so the count is exact and never counted.
create table inboxes (
  account_id uuid    primary key,
  unread     integer not null default 0 check (unread >= 0)
) with (fillfactor = 70);

-- Only of those who changed something; `categories` holds only what differs from everything being on.
create table preferences (
  account_id  uuid    primary key,
  categories  jsonb   not null default '{}',
  quiet       boolean not null default false,
  quiet_start text    not null default '22:00',
  quiet_end   text    not null default '07:00'
);

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
create unique index devices_one_token_each on devices (account_id, device_id) where device_id is not null;
create index devices_last_used_first on devices (account_id, last_used_at desc);
create index devices_of_session on devices (session_id);
create index devices_longest_unused on devices (last_used_at);

-- Sessions whose access tokens may still be about: nobody registers a device with one of them.
create table ended_sessions (
  session_id uuid        primary key,
  ended_at   timestamptz not null default now()
);
create index ended_sessions_oldest_first on ended_sessions (ended_at);
