create table posts (
  id             uuid             primary key default uuidv7(),
  author_id      uuid             not null,
  type           text             not null check (type in ('TEXT', 'IMAGE', 'VIDEO', 'POLL', 'WORKOUT', 'ACHIEVEMENT', 'ACTIVITY')),
  visibility     text             not null check (visibility in ('PUBLIC', 'FOLLOWERS', 'PRIVATE')),
  content        text             not null,
  media_urls     text[]           not null,
  media_type     text,
  activity_id    text,
  workout_id     text,
  achievement_id text,
  location_name  text,
  latitude       double precision,
  longitude      double precision,
  likes_count    integer          not null default 0 check (likes_count >= 0),
  comments_count integer          not null default 0 check (comments_count >= 0),
  views_count    integer          not null default 0,
  created_at     timestamptz      not null default now(),
  deleted_at     timestamptz
) with (fillfactor = 80);  -- no index contains a counter, so a counter changes in place as long as the page has room (HOT update)
create index posts_newest_first on posts (id desc) include (author_id, visibility)
  where deleted_at is null and visibility <> 'PRIVATE';
create index posts_public_newest_first on posts (id desc) include (author_id)
  where deleted_at is null and visibility = 'PUBLIC';
create index posts_of_author_newest_first on posts (author_id, id desc) include (visibility, type)
  where deleted_at is null;
create index posts_of_type_newest_first on posts (type, id desc) include (author_id, visibility)
  where deleted_at is null and visibility <> 'PRIVATE';
create index posts_with_media on posts using gin (media_urls) where media_urls <> '{}' and deleted_at is null;
-- Housekeeping looks here for non-public posts that still show a public image.
create index posts_with_private_images on posts (id) where visibility <> 'PUBLIC' and deleted_at is null and media_urls <> '{}';

create table likes (
  id         uuid        not null default uuidv7(),
  post_id    uuid        not null references posts on delete cascade,
  account_id uuid        not null,
  created_at timestamptz not null default now(),
  primary key (post_id, account_id)
);
create index likes_newest_first on likes (post_id, id desc);

-- There are two levels: a reply to a reply becomes a reply to the top-level comment.
create table comments (
  id            uuid        primary key default uuidv7(),
  post_id       uuid        not null references posts on delete cascade,
  parent_id     uuid        references comments on delete cascade,
  author_id     uuid        not null,
  content       text        not null,
  replies_count integer     not null default 0 check (replies_count >= 0),
  created_at    timestamptz not null default now()
);
create index comments_of_post_oldest_first on comments (post_id, id) where parent_id is null;
create index replies_of_comment_oldest_first on comments (parent_id, id) where parent_id is not null;

create table post_hashtags (
  tag     text not null,
  post_id uuid not null references posts on delete cascade,
  primary key (tag, post_id)
);
create index post_hashtags_newest_first on post_hashtags (tag, post_id desc);
create index hashtags_of_post on post_hashtags (post_id desc);

-- Who was mentioned in a post or a comment and notified. A mention that an edit removes stays here, so that nobody is notified twice.
create table mentions (
  post_id    uuid    not null references posts on delete cascade,
  comment_id uuid    references comments on delete cascade,
  account_id uuid    not null,
  in_text    boolean not null default true,
  unique nulls not distinct (post_id, comment_id, account_id)
);
create index mentions_of_comment on mentions (comment_id) where comment_id is not null;
create index posts_mentioning_newest_first on mentions (account_id, post_id desc) where comment_id is null and in_text;

create table polls (
  post_id     uuid        primary key references posts on delete cascade,
  question    text        not null,
  ends_at     timestamptz,
  total_votes integer     not null default 0
);
create table poll_options (
  id          uuid     primary key default uuidv7(),
  post_id     uuid     not null references polls on delete cascade,
  position    smallint not null,
  text        text     not null,
  votes_count integer  not null default 0,
  unique (post_id, position)
);
create table poll_votes (
  post_id    uuid        not null references polls on delete cascade,
  account_id uuid        not null,
  option_id  uuid        not null references poll_options on delete cascade,
  created_at timestamptz not null default now(),
  primary key (post_id, account_id)
);
