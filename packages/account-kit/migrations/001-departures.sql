-- A tombstone of each account that is being erased here, or was. It outlives the data: what a late event brings back is erased again.
create table departures (
  account_id  uuid        primary key,
  erasure_id  uuid        not null,
  rows        jsonb       not null default '{}',  -- how many rows of each table were erased
  files       integer     not null default 0,
  kept        integer     not null default 0,     -- how many rows stay for a while, as evidence
  passes      smallint    not null default 0,     -- how many passes over all tables are complete
  found       integer     not null default 0,     -- how many rows the current pass has erased
  next_pass_at timestamptz default now(),         -- null once the last sweep has found nothing
  created_at  timestamptz not null default now(),
  erased_at   timestamptz                         -- when the first pass was complete
);
create index departures_due on departures (next_pass_at) where next_pass_at is not null;

-- Files of erased rows. Each is written in the transaction that deletes its row, so a crash never leaves a file behind.
create table files_to_erase (
  account_id uuid not null,
  key        text not null,
  primary key (account_id, key)
);

-- People who are invisible to everybody else at the moment. A visible person stays as a row, so that a late event is recognized as late.
create table hidden_people (
  account_id uuid        primary key,
  is_hidden  boolean     not null,
  changed_at timestamptz not null
);
