-- The newest code of each kind for an account; a new one takes the old one's place.
create table codes (
  account_id        uuid        not null references accounts on delete cascade,
  purpose           text        not null check (purpose in ('VERIFY', 'SIGN_IN')),
  digest            bytea       not null,
  requested_network text        not null,
  tries             integer     not null default 0,
  expires_at        timestamptz not null,
  primary key (account_id, purpose)
);
create index codes_oldest_first on codes (expires_at);

-- A new code does not make the day's tries anew.
create table code_tries (
  account_id uuid    not null references accounts on delete cascade,
  day        date    not null,
  tries      integer not null,
  primary key (account_id, day)
);
create index code_tries_oldest_first on code_tries (day);

create table password_resets (
  account_id uuid        primary key references accounts on delete cascade,
  digest     bytea       not null,
  expires_at timestamptz not null
);
create index password_resets_oldest_first on password_resets (expires_at);

-- Asked for by somebody who is not signed in. Written for known and unknown addresses alike and carried out
-- afterwards, so that the time an answer takes does not tell which it was.
create table mail_requests (
  id         uuid        primary key default uuidv7(),
  kind       text        not null check (kind in ('VERIFY', 'SIGN_IN', 'RESET')),
  email      text        not null,
  network    text        not null,
  created_at timestamptz not null default now()
);

create table issue_reports (
  id          uuid        primary key default uuidv7(),
  email       text        not null,
  description text        not null,
  created_at  timestamptz not null default now()
);
