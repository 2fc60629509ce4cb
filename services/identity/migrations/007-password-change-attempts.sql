-- The attempts of the last hour to change a password. Five an hour are let through, counted by one statement.
create table password_change_attempts (
  account_id        uuid          primary key references accounts on delete cascade,
  attempted_at      timestamptz[] not null,
  last_attempted_at timestamptz   not null
);
create index password_change_attempts_oldest_first on password_change_attempts (last_attempted_at);
