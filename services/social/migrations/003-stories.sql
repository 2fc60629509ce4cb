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
  cleared_at     timestamptz               -- when all but the fact that there was one was deleted
) with (fillfactor = 80);
create index stories_of_author on stories (author_id, id);
create index stories_to_clear on stories (expires_at) where cleared_at is null;

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

-- How many stories somebody made on a day of his own calendar, deleted ones included.
create table story_days (
  account_id uuid    not null,
  day        date    not null,
  stories    integer not null,
  primary key (account_id, day)
);
create index story_days_oldest_first on story_days (day);
