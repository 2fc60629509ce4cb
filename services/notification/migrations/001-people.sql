-- A copy of how people appear and which language and time zone they use. The profile service owns the originals.
create table people (
  account_id uuid        primary key,
  name       text        not null,
  image      text,
  locale     text        not null,
  timezone   text        not null,
  changed_at timestamptz not null
);

-- A lifted block stays for a while, so that a late event about it is recognized as late.
create table blocks (
  blocker_id uuid        not null,
  blocked_id uuid        not null,
  lifted     boolean     not null,
  changed_at timestamptz not null,
  sequence   bigint      not null default 0,  -- orders the events of one service: two can share a millisecond
  primary key (blocker_id, blocked_id)
);

-- One row for each account this service knows. Every change to an unread count or to devices locks this row first, so the count is
-- exact without ever being recounted.
create table unread_counts (
  account_id uuid    primary key,
  unread     integer not null default 0 check (unread >= 0)
) with (fillfactor = 70);

-- Only accounts that changed something have a row. `categories` holds what differs from the default, which is everything on.
create table preferences (
  account_id          uuid    primary key,
  categories          jsonb   not null default '{}',
  quiet_hours_enabled boolean not null default false,
  quiet_hours_start   text    not null default '22:00',
  quiet_hours_end     text    not null default '07:00'
);
