create table password_resets (
  account_id uuid        primary key references accounts on delete cascade,
  digest     bytea       not null,
  expires_at timestamptz not null
);
create index password_resets_oldest_first on password_resets (expires_at);

-- Wrong passwords since the last correct one. Kept for known and unknown addresses alike, so that both take the same time.
create table failed_password_attempts (
  source_digest bytea       primary key,
  failures      integer     not null,
  blocked_until timestamptz not null
);
create index failed_password_attempts_oldest_first on failed_password_attempts (blocked_until);

-- The attempts of the last hour to change a password. One statement counts them and allows five an hour.
create table password_change_attempts (
  account_id        uuid          primary key references accounts on delete cascade,
  attempted_at      timestamptz[] not null,
  last_attempted_at timestamptz   not null
);
create index password_change_attempts_oldest_first on password_change_attempts (last_attempted_at);
