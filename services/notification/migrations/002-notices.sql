-- What somebody is told, once for a cause. One that is muted or removed stays until its cause can no longer come again.
create table notices (
  id         uuid        primary key,  -- UUIDv7: the order of the inbox
  account_id uuid        not null,
  cause      text        not null,     -- 'comment:<id>', 'match:<id>' …
  kind       text        not null,     -- which text
  type       text        not null,     -- which category
  actor_id   uuid,                     -- who did it; null where nobody did, or it is not to be known
  others     integer     not null default 0,
  subject_id uuid,                     -- what it is about, if it goes when that goes
  data       jsonb       not null,     -- the ids to open
  params     jsonb       not null,     -- what the text needs besides names
  listed     boolean     not null,     -- whether the inbox shows it
  created_at timestamptz not null default now(),
  read_at    timestamptz,
  removed_at timestamptz,
  unique (account_id, cause)
);
create index notices_newest_first on notices (account_id, id desc) where listed and removed_at is null;
create index notices_unread_newest_first on notices (account_id, id desc) where listed and removed_at is null and read_at is null;

-- Who likes what, as far as its author was or is yet to be told of it.
create table post_likes (
  post_id    uuid        not null,
  liked_by   uuid        not null,
  liked      boolean     not null,
  notice_id  uuid        references notices on delete set null,
  changed_at timestamptz not null,
  primary key (post_id, liked_by)
);
create index post_likes_of_notice on post_likes (notice_id) where notice_id is not null;
create index post_likes_oldest_first on post_likes (changed_at);

-- The notice that further likes of a post join, and until when. Whatever changes the likes of a post waits here.
create table like_gatherings (
  post_id   uuid        primary key,
  notice_id uuid,
  ends_at   timestamptz not null
);
create index like_gatherings_oldest_first on like_gatherings (ends_at);

-- Nothing that was sent in them is told any more.
create table ended_matches (
  match_id uuid        primary key,
  ended_at timestamptz not null
);

create table broadcasts (
  id          uuid        primary key,
  title       jsonb       not null,
  body        jsonb       not null,
  told_up_to  uuid        not null default '00000000-0000-0000-0000-000000000000',  -- everybody up to this account was told
  told        integer     not null default 0,
  created_at  timestamptz not null default now(),
  finished_at timestamptz
);
create index broadcasts_unfinished on broadcasts (created_at) where finished_at is null;
