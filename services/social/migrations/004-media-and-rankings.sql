-- Images that were uploaded here. Who deletes a story deletes its image too, unless something else shows it.
create table media (
  key        text        primary key,
  url        text        not null unique,
  account_id uuid        not null,
  mime_type  text        not null,
  width      integer     not null,
  height     integer     not null,
  bytes      integer     not null,
  created_at timestamptz not null default now()
);
create index media_of_account on media (account_id);
create index posts_with_media on posts using gin (media_urls) where media_urls <> '{}' and deleted_at is null;

-- What trended at one moment. Pages are cut from one ranking while scores go on moving.
create table rankings (
  id       uuid        primary key default uuidv7(),
  scope    text        not null,
  post_ids uuid[]      not null,
  took     integer     not null,  -- milliseconds it took to make
  made_at  timestamptz not null default now()
);
create index rankings_newest_first on rankings (scope, id desc);
create index rankings_oldest_first on rankings (made_at);

-- Which ranking a device is leafing through.
create table ranking_readers (
  session_id text        not null,
  scope      text        not null,
  ranking_id uuid        not null references rankings on delete cascade,
  primary key (session_id, scope)
);
create index readers_of_ranking on ranking_readers (ranking_id);
