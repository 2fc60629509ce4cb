-- One row for each copy of their data that a person asked for. Its files are in private storage, below exports/<id>/.
create table exports (
  id            uuid        primary key,
  account_id    uuid        not null references accounts on delete cascade,
  status        text        not null default 'PENDING'
    check (status in ('PENDING', 'RUNNING', 'READY', 'FAILED', 'EXPIRED')),
  progress      smallint    not null default 0 check (progress between 0 and 100),
  requested_at  timestamptz not null default now(),
  claim         uuid,                              -- the worker that has the lease
  claimed_until timestamptz not null default now(), -- when the lease ends, or a failed attempt is repeated
  token_digest  bytea       unique,
  bytes         bigint,
  sha256        text,
  ready_at      timestamptz,
  expires_at    timestamptz,
  check ((status = 'READY') <= (token_digest is not null and bytes is not null and expires_at is not null))
);
create unique index exports_one_running on exports (account_id) where status in ('PENDING', 'RUNNING');
create index exports_of_account on exports (account_id, requested_at desc);
create index exports_to_make on exports (claimed_until) where status in ('PENDING', 'RUNNING');
create index exports_to_expire on exports (expires_at) where status = 'READY';
