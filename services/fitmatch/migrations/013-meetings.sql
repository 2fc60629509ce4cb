-- Activities for which a participant lets their trusted contact know. Activities can disappear with their host, and a
-- meeting must not, so there is no foreign key.
create table meetings (
  id              uuid        primary key default uuidv7(),
  activity_id     uuid        not null,
  account_id      uuid        not null,
  minutes         smallint    not null check (minutes between 15 and 240),
  status          text        not null default 'ARMED' check (status in ('ARMED', 'SAFE', 'ALARMED')),
  ask_at          timestamptz not null,
  alarm_at        timestamptz not null,
  due_at          timestamptz,  -- the next of the two; null if nothing is to happen any more
  contact_told_at timestamptz,  -- when the contact was notified that the person has not reported back
  created_at      timestamptz not null default now(),
  unique (activity_id, account_id),
  check (ask_at < alarm_at),
  check ((due_at is null) = (status <> 'ARMED'))
);
create index meetings_due on meetings (due_at) where due_at is not null;
create index meetings_of_account on meetings (account_id);
create index meetings_by_age on meetings (alarm_at);

create table meeting_quota (
  account_id uuid     not null,
  day        date     not null,  -- in the account's own time zone
  used       smallint not null,
  primary key (account_id, day)
);
