create table stories (
  id             uuid             primary key default uuidv7(),
  author_id      uuid             not null,
  media_url      text             not null,
  media_type     text             not null check (media_type in ('IMAGE', 'VIDEO')),
  caption        text,
  text_color     text,
  bg_color       text,
  font_style     text,
  duration       double precision,
  view_count     integer          not null default 0 check (view_count >= 0),
  reaction_count integer          not null default 0 check (reaction_count >= 0),
  created_at     timestamptz      not null default now(),
  expires_at     timestamptz      not null default now() + interval '24 hours',
  cleared_at     timestamptz               -- when its content was deleted; the row remains, so that the story still reads as expired
) with (fillfactor = 80);
create index stories_of_author on stories (author_id, id);
create index stories_to_clear on stories (expires_at) where cleared_at is null;
create index stories_with_media on stories (media_url) where cleared_at is null;
-- Housekeeping looks here for stories that still show a public image.
create index stories_with_public_image on stories (id) where cleared_at is null and media_url like 'public/%';

create table story_views (
  id         uuid        not null default uuidv7(),
  story_id   uuid        not null references stories on delete cascade,
  account_id uuid        not null,
  viewed_at  timestamptz not null default now(),
  primary key (story_id, account_id)
);
create index story_views_newest_first on story_views (story_id, id desc);

create table story_reactions (
  story_id   uuid        not null references stories on delete cascade,
  account_id uuid        not null,
  emoji      text        not null,
  created_at timestamptz not null default now(),
  primary key (story_id, account_id)
);

-- How many stories a person created on one day of their own calendar, including deleted stories.
create table daily_story_counts (
  account_id    uuid    not null,
  day           date    not null,
  stories_count integer not null,
  primary key (account_id, day)
);
create index daily_story_counts_oldest_first on daily_story_counts (day);
