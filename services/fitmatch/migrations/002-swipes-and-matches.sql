create table swipes (
  swiper_id  uuid        not null,
  target_id  uuid        not null,
  swipe_type text        not null check (swipe_type in ('PASS', 'LIKE', 'WORKOUT_BUDDY')),
  told       boolean     not null default false,  -- whether the target has heard that somebody is interested
  created_at timestamptz not null default now(),
  primary key (swiper_id, target_id),
  check (swiper_id <> target_id)
);
create index swipes_received on swipes (target_id, created_at desc) where swipe_type <> 'PASS';

-- By the swiper's own calendar day. It outlives his profile.
create table swipe_quota (
  account_id uuid    not null,
  day        date    not null,
  used       integer not null,
  primary key (account_id, day)
);

create table matches (
  id              uuid           primary key default uuidv7(),
  low_id          uuid           not null,
  high_id         uuid           not null,
  match_type      text           not null check (match_type in ('LIKE', 'WORKOUT_BUDDY')),
  created_at      timestamptz    not null default now(),
  last_message_at timestamptz(3),
  ended_at        timestamptz,
  check (low_id < high_id)
);
create unique index matches_of_pair on matches (low_id, high_id) where ended_at is null;
create index matches_between on matches (low_id, high_id);
create index matches_of_high on matches (high_id);
create index matches_lately_ended on matches (ended_at) where ended_at is not null;

-- Within a match no two messages have the same created_at, and none is committed before an earlier one: it is written under
-- the match's lock. So it is the order of the chat, and what a client polls by.
create table messages (
  id         uuid           primary key default uuidv7(),
  match_id   uuid           not null references matches on delete cascade,
  sender_id  uuid           not null,
  content    text,
  image_url  text,
  client_id  text,
  created_at timestamptz(3) not null,
  read_at    timestamptz,
  check (content is not null or image_url is not null)
);
create unique index messages_in_order on messages (match_id, created_at);
create unique index messages_by_client on messages (match_id, sender_id, client_id) where client_id is not null;
create index messages_unread on messages (match_id, sender_id) where read_at is null;

create table message_quota (
  account_id uuid        primary key,
  began_at   timestamptz not null,
  used       smallint    not null
) with (fillfactor = 60);

create table typing (
  match_id   uuid        not null references matches on delete cascade,
  account_id uuid        not null,
  since      timestamptz not null,
  primary key (match_id, account_id)
) with (fillfactor = 60);
