alter table accounts add column leaving_at timestamptz;  -- when the deletion was requested that is scheduled or runs
alter table accounts add column paused_at  timestamptz;  -- when the owner paused the account; the next sign-in resumes it
comment on column accounts.expired_at is 'When the address was released: nobody verified it, or the account was erased. The row stays, because the numbers of later members count it.';
create index accounts_hidden on accounts (id)
  where expired_at is null and (leaving_at is not null or paused_at is not null or banned_at is not null);
create index accounts_expired_with_data on accounts (id) where expired_at is not null and registered_network <> '';

-- One row for each request to delete an account. It is the receipt too, and is kept for a year after the erasure.
create table erasures (
  id           uuid        primary key,           -- random: who knows it may read the receipt
  account_id   uuid        not null,              -- no foreign key: a ledger can name an account that a restored backup does not have
  cause        text        not null check (cause in ('OWNER', 'LINK', 'OPERATOR', 'EXPIRY', 'LEDGER')),
  status       text        not null default 'SCHEDULED'
    check (status in ('SCHEDULED', 'HELD', 'RUNNING', 'ERASED', 'CLOSED', 'CANCELED')),
  requested_at timestamptz not null default now(),
  erase_at     timestamptz not null,
  announced_at timestamptz,                       -- when the services were last told
  begun_at     timestamptz,
  erased_at    timestamptz,
  closed_at    timestamptz,
  canceled_at  timestamptz,
  reminded_at  timestamptz,
  hold_reason  text,
  held_until   timestamptz,
  check ((status = 'HELD') = (held_until is not null))
);
create unique index erasures_one_live_for_account on erasures (account_id) where status in ('SCHEDULED', 'HELD', 'RUNNING');
create index erasures_due on erasures (erase_at) where status = 'SCHEDULED';
create index erasures_by_account on erasures (account_id);
create index erasures_running on erasures (announced_at) where status = 'RUNNING';

-- What each service erased, as it last reported.
create table erasure_confirmations (
  erasure_id   uuid        not null references erasures on delete cascade,
  service      text        not null,
  rows         jsonb       not null,
  files        integer     not null,
  kept         integer     not null,
  sweeps_left  integer     not null,
  confirmed_at timestamptz not null default now(),
  primary key (erasure_id, service)
);

-- Keyed digests of what an erased account signed in with, so that a ban survives its deletion.
create table remembered (
  digest bytea       primary key,
  until  timestamptz not null
);
create index remembered_oldest_first on remembered (until);
