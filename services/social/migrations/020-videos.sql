-- Videos beside images, each in one row with its poster.
alter table media
  add column duration_seconds double precision,
  add column poster_width     integer,  -- null: the video has no poster
  add column poster_height    integer,
  add column storing_until    timestamptz;  -- while a process stores its file; after this time the process was killed
create index media_being_stored on media (account_id, storing_until) where storing_until is not null;
create index media_abandoned on media (storing_until) where storing_until is not null;
