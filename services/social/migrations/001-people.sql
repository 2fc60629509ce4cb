-- A copy of how people appear to others; the profile service owns it and says when it changes.
create table people (
  account_id uuid        primary key,
  name       text        not null,
  username   text        not null,
  image      text,
  bio        text,
  locale     text        not null,
  timezone   text        not null,
  folded     text        not null,  -- the name as it is searched: lower case, without accents and punctuation
  changed_at timestamptz not null   -- when the profile service said so; older news do not undo newer
);
create index people_by_username on people (username collate "C");
create index people_by_words_of_name on people using gin (to_tsvector('simple', folded));

-- How many follow a person and are followed by him. Its row is also the lock of whatever changes that.
create table standings (
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

-- FitMatch's blocks, each in both directions: whoever blocked whom, neither exists for the other.
create table blocks (
  account_id uuid        not null,
  other_id   uuid        not null,
  blocker_id uuid        not null,
  lifted     boolean     not null,
  changed_at timestamptz not null,
  primary key (account_id, other_id, blocker_id)
);

-- FitMatch's matches, each in both directions. One that ended stays, lest its beginning be heard late.
create table matches (
  match_id   uuid    not null,
  account_id uuid    not null,
  other_id   uuid    not null,
  ended      boolean not null,
  primary key (match_id, account_id)
);
create index matches_of_person on matches (account_id, other_id) where not ended;
