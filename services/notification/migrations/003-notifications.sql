-- One row for each account and dedupe key. A row that is unlisted or removed stays until its events can no longer be redelivered.
create table notifications (
  id           uuid        primary key,  -- UUIDv7: the order of the inbox
  account_id   uuid        not null,
  dedupe_key   text        not null,     -- 'comment:<id>', 'match:<id>' …
  kind         text        not null,     -- which text
  type         text        not null,     -- the category, which preferences can mute
  actor_id     uuid,                     -- account of the reported action; null if there is none, or if it must stay hidden
  others_count integer     not null default 0,  -- further actors of the same digest
  subject_id   uuid,                     -- the post or match it is about; it is withdrawn with it
  data         jsonb       not null,     -- the ids that the app opens
  params       jsonb       not null,     -- the values of the text, except names
  listed       boolean     not null,     -- whether the inbox shows it
  created_at   timestamptz not null default now(),
  read_at      timestamptz,
  removed_at   timestamptz,
  unique (account_id, dedupe_key)
);
create index notifications_newest_first on notifications (account_id, id desc) where listed and removed_at is null;
create index notifications_unread_newest_first on notifications (account_id, id desc) where listed and removed_at is null and read_at is null;
create index notifications_by_post on notifications (subject_id) where type = 'SOCIAL_FEED' and subject_id is not null and removed_at is null;

-- Deleted posts and comments: an event about one of them that arrives late creates no notification.
create table deleted_content (
  id         uuid        primary key,
  deleted_at timestamptz not null default now()
);
create index deleted_content_oldest_first on deleted_content (deleted_at);

-- A message of an ended match creates no notification.
create table ended_matches (
  match_id uuid        primary key,
  ended_at timestamptz not null
);
