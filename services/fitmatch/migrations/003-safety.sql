create table blocks (
  blocker_id   uuid        not null,
  blocked_id   uuid        not null,
  profile_id   uuid        not null,  -- as it was blocked; the person may have another one by now
  display_name text        not null,
  reason       text,
  created_at   timestamptz not null default now(),
  primary key (blocker_id, blocked_id),
  check (blocker_id <> blocked_id)
);
create index blocks_received on blocks (blocked_id, blocker_id);

-- A report keeps what it is about: neither unmatching nor deleting the profile takes that away.
create table reports (
  id          uuid        primary key default uuidv7(),
  reporter_id uuid        not null,
  reported_id uuid        not null,
  profile_id  uuid        not null,
  reason      text        not null,
  details     text,
  evidence    text[]      not null,
  profile     jsonb       not null,
  messages    jsonb       not null,
  kept_urls   text[]      not null,
  is_urgent   boolean     not null generated always as (reason = 'UNDERAGE') stored,
  status      text        not null default 'OPEN' check (status in ('OPEN', 'RESOLVED')),
  action      text        check (action in ('DISMISS', 'SUSPEND', 'RESTORE')),
  note        text,
  created_at  timestamptz not null default now(),
  resolved_at timestamptz
);
create index reports_urgent_first on reports (status, is_urgent desc, id);
create index reports_against on reports (reported_id);
create index reports_by_reporter on reports (reporter_id, id desc);

create table report_quota (
  account_id uuid     not null,
  day        date     not null,
  used       smallint not null,
  primary key (account_id, day)
);

-- Every selfie that was ever stored and not erased. One that no verification names was left over by a crash.
create table selfies (
  key        text        primary key,
  created_at timestamptz not null default now()
);

create table verifications (
  id           uuid        primary key default uuidv7(),
  account_id   uuid        not null,
  profile_id   uuid        not null,
  status       text        not null default 'PENDING' check (status in ('PENDING', 'APPROVED', 'REJECTED', 'CANCELED')),
  selfie_key   text        references selfies on delete set null,
  reason       text,
  submitted_at timestamptz not null default now(),
  decided_at   timestamptz
);
create unique index verifications_pending_once on verifications (account_id) where status = 'PENDING';
create index verifications_of_account on verifications (account_id, id desc);
create index verifications_by_status on verifications (status, id);
create index verifications_of_selfie on verifications (selfie_key) where selfie_key is not null;

create table badges (
  account_id uuid        not null,
  badge      text        not null,
  earned_at  timestamptz not null default now(),
  primary key (account_id, badge)
);

-- As of the last recalculation.
create table badge_progress (
  account_id uuid     not null,
  badge      text     not null,
  progress   smallint not null,
  primary key (account_id, badge)
);

-- What operators decided, and about whom.
create table audit (
  id         uuid        primary key default uuidv7(),
  admin_id   uuid        not null,
  action     text        not null,
  subject_id uuid        not null,  -- the report or verification
  account_id uuid        not null,
  note       text,
  created_at timestamptz not null default now()
);
create index audit_of_account on audit (account_id, id desc);
