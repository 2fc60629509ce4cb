-- Changes and attempts that matter for the security of an account, kept for 90 days. No email address, name or typed text is stored.
create table security_events (
  id         uuid        primary key default uuidv7(),
  kind       text        not null,
  account_id uuid,                   -- null for unknown accounts; no foreign key, because the history outlives the account
  session_id uuid,
  network    text,                   -- IPv4 /24 or IPv6 /48
  request_id text,
  detail     jsonb       not null default '{}',
  created_at timestamptz not null default now()
);
create index security_events_by_account on security_events (account_id, created_at desc) where account_id is not null;
create index security_events_oldest_first on security_events (created_at);

-- One row a minute for similar failed sign-ins: guessing must not fill the disk.
create unique index security_events_failures_by_minute on security_events
  (account_id, network, (detail ->> 'method'), date_bin('1 minute', created_at, timestamptz '2000-01-01 00:00:00+00')) nulls not distinct
  where kind = 'SIGN_IN_FAILED';
