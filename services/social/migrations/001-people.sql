-- A copy of how people appear to others. The profile service owns the data and publishes every change.
create table people (
  account_id  uuid        primary key,
  name        text        not null,
  username    text        not null,
  image       text,
  bio         text,
  locale      text        not null,
  timezone    text        not null,
  search_name text        not null,  -- the name as searches compare it: lower case, without accents and punctuation
  changed_at  timestamptz not null   -- when the profile service made the change; an older change never replaces a newer one
);
create index people_by_username on people (username collate "C");
create index people_by_words_of_name on people using gin (to_tsvector('simple', search_name));

-- How many followers a person has, and how many people they follow. Its row is also the lock for every change to those follows.
create table follow_counts (
  account_id      uuid    primary key,
  followers_count integer not null default 0 check (followers_count >= 0),
  following_count integer not null default 0 check (following_count >= 0)
) with (fillfactor = 70);

create table follows (
  id          uuid        not null unique default uuidv7(),
  follower_id uuid        not null,
  followed_id uuid        not null check (followed_id <> follower_id),
  created_at  timestamptz not null default now(),
  primary key (follower_id, followed_id)
);
create index follows_of_follower_newest_first on follows (follower_id, id desc);
create index follows_of_followed_newest_first on follows (followed_id, id desc);

-- FitMatch's blocks, each in both directions: regardless of who blocked, the two people do not exist for each other.
create table blocks (
  account_id uuid        not null,
  other_id   uuid        not null,
  blocker_id uuid        not null,
  is_lifted  boolean     not null,
  changed_at timestamptz not null,
  -- The event's position in the stream of fitmatch. It decides which change is newer: changed_at can be equal for two events.
  sequence   bigint      not null default 0,
  primary key (account_id, other_id, blocker_id)
);

-- FitMatch's matches, each in both directions. An ended match stays, because its start can be delivered after its end.
create table matches (
  match_id   uuid    not null,
  account_id uuid    not null,
  other_id   uuid    not null,
  ended      boolean not null,
  primary key (match_id, account_id)
);
create index matches_of_person on matches (account_id, other_id) where not ended;
