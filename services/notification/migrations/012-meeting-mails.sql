-- What the trusted contact was sent about a meeting, so that an all-clear follows every alarm, and no alarm follows an all-clear.
create table meeting_mails (
  meeting_id uuid        primary key,
  is_overdue boolean     not null default false,  -- an alarm was mailed
  is_cleared boolean     not null default false,
  created_at timestamptz not null default now()
);
create index meeting_mails_by_age on meeting_mails (created_at);
