-- All reports of one thing. At most one case of it is open at a time.
create table cases (
  id              uuid        primary key default uuidv7(),
  target_type     text        not null,
  target_id       uuid        not null,
  account_id      uuid        not null,            -- the person it is about
  priority        smallint    not null check (priority between 1 and 3),
  due_at          timestamptz not null,
  version         integer     not null default 1,  -- grows with what a decision has to consider: new evidence, a higher priority
  reports_count   integer     not null default 0,
  evidence_digest bytea       not null,            -- of the evidence that was frozen last
  is_restricted   boolean     not null,            -- whether only administrators can see its files
  is_held         boolean     not null default false,
  claimed_by      uuid,
  claimed_until   timestamptz,
  outcome         text        check (outcome in ('ACTION_TAKEN', 'NO_VIOLATION')),
  decision_id     uuid,
  created_at      timestamptz not null default now(),
  resolved_at     timestamptz,
  check ((outcome is null) = (resolved_at is null))
);
create unique index cases_one_open_per_target on cases (target_type, target_id) where resolved_at is null;
create index cases_most_urgent_first on cases (priority desc, id) where resolved_at is null;
create index cases_of_target_newest_first on cases (target_type, target_id, resolved_at desc);
create index cases_of_account on cases (account_id, id desc);
create index cases_to_purge on cases (resolved_at) where resolved_at is not null;

-- What was reported, as it was then. A later report of a changed thing adds a row.
create table case_evidence (
  id         uuid        primary key default uuidv7(),
  case_id    uuid        not null references cases on delete cascade,
  digest     bytea       not null,
  content    jsonb       not null,
  created_at timestamptz not null default now(),
  unique (case_id, digest)
);

-- The images of the evidence. Until it is copied, the original must not be deleted.
create table case_files (
  case_id    uuid        not null references cases on delete cascade,
  number     smallint    not null,
  source     text        not null,  -- the key of the reported image
  owner_id   uuid        not null,
  copy       text        not null,  -- the key of the private copy
  sha256     bytea,                 -- of the copied bytes; null if there were none
  copied_at  timestamptz,
  created_at timestamptz not null default now(),
  primary key (case_id, number),
  unique (case_id, source)
);
create index case_files_to_copy on case_files (source) where copied_at is null;
