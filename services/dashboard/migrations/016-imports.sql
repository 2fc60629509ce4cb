-- Files of other apps and devices. One of an account is read at a time.
create table imports (
  id            uuid        primary key default uuidv7(),
  account_id    uuid        not null,
  status        text        not null check (status in ('PENDING', 'RUNNING', 'DONE', 'FAILED', 'UNDOING', 'UNDONE')),
  format        text        not null,
  columns       jsonb,                            -- of a CSV file: which column is which field
  timezone      text        not null,             -- of times without an offset
  progress      integer     not null default 0,   -- percent
  found         integer     not null default 0,
  created       integer     not null default 0,   -- entries that were new
  merged        integer     not null default 0,   -- logs that are one session with others
  refused       jsonb       not null default '[]',
  refused_count integer     not null default 0,
  error         text,
  claimed_until timestamptz,                      -- a process works on it
  attempts      integer     not null default 0,
  created_at    timestamptz not null default now(),
  finished_at   timestamptz
);
create index imports_newest_first on imports (account_id, id desc);
create unique index imports_one_at_a_time on imports (account_id) where status in ('PENDING', 'RUNNING', 'UNDOING');
create index imports_to_do on imports (id) where status in ('PENDING', 'RUNNING', 'UNDOING');

-- The uploaded file until it is read.
create table import_files (
  import_id  uuid  primary key references imports on delete cascade,
  account_id uuid  not null,
  bytes      bytea not null
);
create index import_files_of_account on import_files (account_id);
