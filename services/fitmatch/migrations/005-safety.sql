create table blocks (
  blocker_id   uuid        not null,
  blocked_id   uuid        not null,
  profile_id   uuid        not null,  -- the profile at the time of the block; the person may have a new one by now
  display_name text        not null,
  reason       text,
  created_at   timestamptz not null default now(),
  primary key (blocker_id, blocked_id),
  check (blocker_id <> blocked_id)
);
create index blocks_received on blocks (blocked_id, blocker_id);

-- A report copies its evidence: unmatching or deleting the profile does not remove it.
create table reports (
  id            uuid        primary key default uuidv7(),
  reporter_id   uuid        not null,
  reported_id   uuid        not null,
  profile_id    uuid        not null,
  reason        text        not null,
  details       text,
  evidence      text[]      not null,
  profile       jsonb       not null,
  messages      jsonb       not null,
  retained_urls text[]      not null,  -- files that must not be deleted while the report exists
  is_urgent     boolean     not null generated always as (reason = 'UNDERAGE') stored,
  status        text        not null default 'OPEN' check (status in ('OPEN', 'RESOLVED')),
  action        text        check (action in ('DISMISS', 'SUSPEND', 'RESTORE')),
  note          text,
  created_at    timestamptz not null default now(),
  resolved_at   timestamptz
);
create index reports_urgent_first on reports (status, is_urgent desc, id);
create index reports_by_reported on reports (reported_id);
create index reports_by_reporter on reports (reporter_id, id desc);
-- Which reports start to count when the reporter verifies their email address.
create index reports_open_by_reporter on reports (reporter_id) where status = 'OPEN';

create table report_quota (
  account_id uuid     not null,
  day        date     not null,  -- in the reporter's own time zone
  used       smallint not null,
  primary key (account_id, day)
);

-- A copy of each profile that was deleted while it had matches, or had had them within 30 days. For 30 days the people it was matched with can
-- still report its owner. Nobody else finds it, and only operators see it, as part of a report.
create table deleted_profiles (
  id           uuid        primary key,  -- the id of the profile
  account_id   uuid        not null,
  display_name text        not null,
  profile      jsonb       not null,
  photo_urls   text[]      not null,     -- whose files are deleted together with this row
  deleted_at   timestamptz not null default now()
);
create index deleted_profiles_by_age on deleted_profiles (deleted_at);

-- Every decision of an operator.
create table audit_log (
  id          uuid        primary key default uuidv7(),
  operator_id uuid        not null,
  action      text        not null,
  subject_id  uuid        not null,  -- the report or verification
  account_id  uuid        not null,  -- the person the decision is about
  note        text,
  created_at  timestamptz not null default now()
);
create index audit_log_by_account on audit_log (account_id, id desc);
