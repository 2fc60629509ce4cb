-- The newest code of each purpose for an account. A new code replaces the old one.
create table codes (
  account_id uuid        not null references accounts on delete cascade,
  purpose    text        not null check (purpose in ('VERIFY', 'SIGN_IN')),
  digest     bytea       not null,
  attempts   integer     not null default 0,
  expires_at timestamptz not null,
  primary key (account_id, purpose)
);
create index codes_oldest_first on codes (expires_at);

-- Counted per day across codes: a new code does not reset the attempts of the day.
create table code_attempts (
  account_id uuid    not null references accounts on delete cascade,
  day        date    not null,
  attempts   integer not null,
  primary key (account_id, day)
);
create index code_attempts_oldest_first on code_attempts (day);

-- Mails requested by callers who are not signed in. A row is written for known and unknown addresses alike and processed
-- afterwards, so that the response time does not reveal which addresses have an account.
create table mail_requests (
  id         uuid        primary key default uuidv7(),
  kind       text        not null check (kind in ('VERIFY', 'SIGN_IN', 'RESET')),
  email      text        not null,
  network    text        not null,
  created_at timestamptz not null default now()
);
