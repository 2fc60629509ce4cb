-- One push of one notice to one device. This row is the truth; a job in Redis only names it.
create table deliveries (
  id            uuid        primary key,
  notice_id     uuid        not null references notices on delete cascade,
  account_id    uuid        not null,
  device_id     uuid        not null,  -- perhaps gone by now
  device_name   text,
  platform      text        not null,
  low           boolean     not null,  -- waits for all that is not
  status        text        not null check (status in ('pending', 'sent', 'muted', 'held', 'pruned', 'failed')),
  reason        text,
  attempts      integer     not null default 0,
  due_at        timestamptz not null,
  claimed_until timestamptz,           -- while a worker sends it: its lease, after which another may
  created_at    timestamptz not null default now(),
  finished_at   timestamptz,
  unique (notice_id, device_id)
);
create index deliveries_newest_first on deliveries (account_id, id desc);
create index deliveries_waiting on deliveries (low, id) where status in ('pending', 'held');
