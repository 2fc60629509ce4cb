-- One push of one notification to one device. This row is the source of truth; a job in Redis only carries its id.
create table deliveries (
  id              uuid        primary key,
  notification_id uuid        not null references notifications on delete cascade,
  account_id      uuid        not null,
  device_id       uuid        not null,  -- the device may be deleted by now
  device_name     text,
  platform        text        not null,
  low_priority    boolean     not null,  -- waits for all others
  status          text        not null check (status in ('pending', 'sent', 'muted', 'held', 'pruned', 'failed')),
  reason          text,
  attempts        integer     not null default 0,
  due_at          timestamptz not null,
  claimed_until   timestamptz,           -- the lease of the worker that sends it; once it expires, another worker may claim the row
  created_at      timestamptz not null default now(),
  finished_at     timestamptz,
  unique (notification_id, device_id)
);
create index deliveries_newest_first on deliveries (account_id, id desc);
create index deliveries_unfinished on deliveries (low_priority, id) where status in ('pending', 'held');
