-- Plans to train together. People agree on a date, two times and a time zone. The instants follow from them.
create table activities (
  id            uuid        primary key default uuidv7(),
  host_id       uuid        not null,
  title         text        not null,
  sport         text        not null,  -- an onboarding option
  date          date        not null,
  start_time    time        not null,
  end_time      time        not null,  -- at or before start_time, it is on the next day
  timezone      text        not null,
  starts_at     timestamptz not null,
  ends_at       timestamptz not null,
  tzdata        text        not null,  -- the version of the time zone data that the instants were derived with
  -- The place and the note are erased 30 days after the end.
  location_name text,
  venue         jsonb,
  note          text,
  -- What others see instead of the place: a city, and a position in hundredths of a degree, as for profiles.
  city          text,
  latitude      smallint    check (latitude between -9000 and 9000),
  longitude     smallint    check (longitude between -18000 and 18000),
  cell          integer     not null generated always as (
    case when latitude is null then -1 - (hashtext(lower(coalesce(city, ''))) & 1048575)
      else (latitude + 9000) / 5 * 7200 + (longitude + 18000) / 5 % 7200 end) stored,
  visibility    text        not null check (visibility in ('INVITED', 'OPEN')),
  capacity      smallint    not null check (capacity between 2 and 20),  -- with the host
  -- Taken places: everyone who is GOING, and the reserved places of those who were before a change.
  going_count   smallint    not null default 1,
  status        text        not null default 'PLANNED' check (status in ('PLANNED', 'FINISHED', 'CANCELED')),
  version       integer     not null default 1,  -- rises with each change of the time or place
  created_at    timestamptz not null default now(),
  check ((latitude is null) = (longitude is null)),
  check (ends_at > starts_at),
  check (going_count between 1 and capacity)
);
create index activities_of_host on activities (host_id, starts_at desc);
create index activities_nearby on activities (cell, starts_at) where visibility = 'OPEN' and status = 'PLANNED';
create index activities_by_tzdata on activities (tzdata) where status = 'PLANNED';
create index activities_with_place on activities (ends_at) where location_name is not null;

create table activity_participants (
  activity_id   uuid        not null references activities on delete cascade,
  account_id    uuid        not null,
  state         text        not null
    check (state in ('INVITED', 'ASKED', 'GOING', 'DECLINED', 'REFUSED', 'LEFT', 'REMOVED')),
  version       integer     not null,  -- of the activity when the person last agreed or asked
  was_going     boolean     not null default false,  -- invited again after a change, with a reserved place
  checked_in_at timestamptz,
  attended_at   timestamptz,  -- when it was published that the person was there
  created_at    timestamptz not null default now(),
  primary key (activity_id, account_id),
  check (not was_going or state = 'INVITED')
);
create index activity_participants_of_account on activity_participants (account_id, state);

-- What is to happen at a time: reminders, the release of reserved places, and the end.
create table activity_timers (
  activity_id uuid        not null references activities on delete cascade,
  kind        text        not null check (kind in ('REMIND_24H', 'REMIND_1H', 'RELEASE', 'FINISH')),
  due_at      timestamptz not null,
  primary key (activity_id, kind)
);
create index activity_timers_due on activity_timers (due_at);

-- Days are in the account's own time zone.
create table activity_quota (
  account_id uuid     not null,
  day        date     not null,
  used       smallint not null,
  primary key (account_id, day)
);
create table invitation_quota (like activity_quota including all);
create table join_request_quota (like activity_quota including all);
