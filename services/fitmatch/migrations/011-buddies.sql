-- People who do sports together, agreed by both.
create table buddies (
  id         uuid        primary key default uuidv7(),
  low_id     uuid        not null,  -- the smaller of the two account ids
  high_id    uuid        not null,
  sport      text        not null,  -- an onboarding option
  created_at timestamptz not null default now(),
  unique (low_id, high_id),
  check (low_id < high_id)
);
create index buddies_by_high_id on buddies (high_id);

-- Open for 90 days. To the people who sent them, declined requests look like pending ones.
create table buddy_requests (
  id         uuid        primary key default uuidv7(),
  from_id    uuid        not null,
  to_id      uuid        not null,
  sport      text        not null,
  status     text        not null default 'PENDING' check (status in ('PENDING', 'DECLINED', 'ACCEPTED')),
  created_at timestamptz not null default now(),
  check (from_id <> to_id)
);
create unique index buddy_requests_one_open on buddy_requests (least(from_id, to_id), greatest(from_id, to_id))
  where status <> 'ACCEPTED';
create index buddy_requests_sent on buddy_requests (from_id, id desc);
create index buddy_requests_received on buddy_requests (to_id, id desc);
create index buddy_requests_by_age on buddy_requests (created_at);

-- Outlives the request, so withdrawing and repeating it does not ask again.
create table buddy_refusals (
  from_id    uuid        not null,  -- who asked
  to_id      uuid        not null,  -- who refused
  refused_at timestamptz not null default now(),
  primary key (from_id, to_id)
);
create index buddy_refusals_by_refuser on buddy_refusals (to_id);
create index buddy_refusals_by_age on buddy_refusals (refused_at);

create table buddy_request_quota (
  account_id uuid     not null,
  day        date     not null,  -- in the account's own time zone
  used       smallint not null,
  primary key (account_id, day)
);

-- How accounts appear outside of FitMatch, where buddies know each other from.
create table people (
  account_id uuid        primary key,
  name       text        not null,
  image      text,
  changed_at timestamptz not null
);
