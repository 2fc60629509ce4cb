-- Codes for proofs are mailed too.
-- Safe: codes.codes_purpose_check, which only allows more than before
alter table codes drop constraint codes_purpose_check,
  add constraint codes_purpose_check check (purpose in ('VERIFY', 'SIGN_IN', 'DELETE', 'EXPORT', 'CHANGE_EMAIL'));

-- Who holds a session has proved again who they are, for one purpose and for one use.
create table proofs (
  digest     bytea       primary key,
  account_id uuid        not null references accounts on delete cascade,
  session_id uuid        not null references sessions on delete cascade,
  purpose    text        not null check (purpose in ('DELETE', 'EXPORT', 'CHANGE_EMAIL')),
  method     text        not null check (method in ('PASSWORD', 'CODE', 'PROVIDER_A', 'PROVIDER_B')),
  expires_at timestamptz not null
);
create index proofs_by_account on proofs (account_id);
create index proofs_by_session on proofs (session_id);
create index proofs_oldest_first on proofs (expires_at);

-- The attempts of the last 15 minutes to get a proof. One statement counts them and allows five.
create table proof_attempts (
  account_id        uuid          primary key references accounts on delete cascade,
  attempted_at      timestamptz[] not null,
  last_attempted_at timestamptz   not null
);
create index proof_attempts_oldest_first on proof_attempts (last_attempted_at);
