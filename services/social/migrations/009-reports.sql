-- Reports of posts, comments, stories and people. What happens to them is in their case.
create table reports (
  id          uuid        primary key default uuidv7(),
  case_id     uuid        not null references cases on delete cascade,
  reporter_id uuid,                 -- null once the reporter's account is erased
  reason      text        not null,
  details     text,
  evidence    text[]      not null, -- URLs of what the reporter adds
  created_at  timestamptz not null default now(),
  unique (case_id, reporter_id)
);
create index reports_of_reporter_newest_first on reports (reporter_id, id desc);

create table report_quota (
  account_id uuid     not null,
  day        date     not null,  -- in the reporter's own time zone
  used       smallint not null,
  primary key (account_id, day)
);
create index report_quota_oldest_first on report_quota (day);

-- When operators hid it. To everybody except its author it is then as if it were deleted.
alter table posts add column hidden_at timestamptz;
alter table comments add column hidden_at timestamptz;
alter table stories add column hidden_at timestamptz;
