-- The latest state of each like, and the notification that reports it, if any.
create table post_likes (
  post_id         uuid        not null,
  liked_by        uuid        not null,
  liked           boolean     not null,
  notification_id uuid        references notifications on delete set null,
  changed_at      timestamptz not null,
  sequence        bigint      not null default 0,  -- orders the events of one service: two can share a millisecond
  primary key (post_id, liked_by)
);
create index post_likes_by_notification on post_likes (notification_id) where notification_id is not null;
create index post_likes_oldest_first on post_likes (changed_at);

-- The notification that further likes of a post join, and until when. Every change to the likes of a post locks this row first.
create table like_digests (
  post_id         uuid        primary key,
  notification_id uuid,
  ends_at         timestamptz not null
);
create index like_digests_oldest_first on like_digests (ends_at);
