-- Codes for a new address are mailed to that address.
-- Safe: codes.codes_purpose_check, which only allows more than before
alter table codes drop constraint codes_purpose_check,
  add constraint codes_purpose_check check (purpose in ('VERIFY', 'SIGN_IN', 'DELETE', 'EXPORT', 'CHANGE_EMAIL', 'NEW_EMAIL'));

-- The address that an account changes to once its code is confirmed.
create table email_changes (
  account_id   uuid        primary key references accounts on delete cascade,
  new_email    text        not null check (new_email = lower(new_email)),
  requested_at timestamptz not null default now()
);

-- Links to take back a change, mailed to the old address. Until they expire, nobody else can use that address.
create table email_reverts (
  digest     bytea       primary key,
  account_id uuid        not null references accounts on delete cascade,
  old_email  text        not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index email_reverts_by_account on email_reverts (account_id);
create index email_reverts_by_address on email_reverts (old_email);
create index email_reverts_oldest_first on email_reverts (expires_at);

-- The changes that an account asked for today. One statement counts them and allows five.
create table email_change_attempts (
  account_id        uuid          primary key references accounts on delete cascade,
  attempted_at      timestamptz[] not null,
  last_attempted_at timestamptz   not null
);
create index email_change_attempts_oldest_first on email_change_attempts (last_attempted_at);
