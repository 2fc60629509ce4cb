-- What happened to accounts that bears on their security, kept for 90 days. Nobody's address, name or typed text is in it.
create table security_events (
  id         uuid        primary key default uuidv7(),
  kind       text        not null,
  account_id uuid,                   -- null where nobody is known; no foreign key, as the history of an account outlives it
  session_id uuid,
  network    text,                   -- an IPv4 /24 or IPv6 /48
  request_id text,
  detail     jsonb       not null default '{}',
  created_at timestamptz not null default now()
);
create index security_events_of_account on security_events (account_id, created_at desc) where account_id is not null;
create index security_events_oldest_first on security_events (created_at);

-- One row a minute for failed sign-ins that are alike: guessing must not fill the disk.
create unique index security_events_failures on security_events
  (account_id, network, (detail ->> 'method'), date_bin('1 minute', created_at, timestamptz '2000-01-01 00:00:00+00')) nulls not distinct
  where kind = 'SIGN_IN_FAILED';
