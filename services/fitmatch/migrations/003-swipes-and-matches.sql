create table swipes (
  swiper_id      uuid        not null,
  target_id      uuid        not null,
  swipe_type     text        not null check (swipe_type in ('PASS', 'LIKE', 'WORKOUT_BUDDY')),
  like_published boolean     not null default false,  -- whether LikeReceived was ever published for this pair and direction
  created_at     timestamptz not null default now(),
  primary key (swiper_id, target_id),
  check (swiper_id <> target_id)
);
create index swipes_received on swipes (target_id, created_at desc) where swipe_type <> 'PASS';

-- Outlives the profile, so a new profile does not reset it.
create table swipe_quota (
  account_id uuid    not null,
  day        date    not null,  -- in the swiper's own time zone
  used       integer not null,
  primary key (account_id, day)
);

-- A match is never deleted when it ends: for 30 days a report can still refer to it.
create table matches (
  id              uuid           primary key default uuidv7(),
  low_id          uuid           not null,  -- the smaller of the two account ids
  high_id         uuid           not null,
  match_type      text           not null check (match_type in ('LIKE', 'WORKOUT_BUDDY')),
  created_at      timestamptz    not null default now(),
  last_message_at timestamptz(3),
  ended_at        timestamptz,
  check (low_id < high_id)
);
create unique index matches_one_active on matches (low_id, high_id) where ended_at is null;
create index matches_of_pair on matches (low_id, high_id);
create index matches_by_high_id on matches (high_id);
create index matches_by_end on matches (ended_at) where ended_at is not null;
