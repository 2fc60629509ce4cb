-- Videos beside images, each in one row with its poster.
alter table media
  add column duration_seconds double precision,
  add column poster_width     integer,  -- null: the video has no poster
  add column poster_height    integer,
  add column storing_until    timestamptz;  -- while a process stores its file; after this time the process was killed
create index media_being_stored on media (account_id, storing_until) where storing_until is not null;
create index media_abandoned on media (storing_until) where storing_until is not null;

-- Videos that arrive in parts, over hours and several connections. Their parts are files.
create table media_uploads (
  id               uuid        primary key default uuidv7(),
  account_id       uuid        not null,
  mime_type        text        not null,
  bytes            integer     not null,
  received_bytes   integer     not null default 0,
  parts            text[]      not null default '{}',
  processing_until timestamptz,  -- while a process stores the video; after this time the process was killed
  media_key        text,         -- the stored video
  problem          jsonb,        -- why it was refused
  created_at       timestamptz not null default now(),
  expires_at       timestamptz not null default now() + interval '24 hours'
);
create index media_uploads_of_account on media_uploads (account_id);
create index media_uploads_expired on media_uploads (expires_at);
