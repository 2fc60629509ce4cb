-- A quota is one row, so requests with different time zones cannot use two days of it at once.
create table daily_quotas (
  account_id uuid        not null,
  name       text        not null,  -- of what is counted, such as swipes
  used       integer     not null,
  ends_at    timestamptz not null,  -- when the day ends that was used
  primary key (account_id, name)
);
create index daily_quotas_oldest_first on daily_quotas (ends_at);
