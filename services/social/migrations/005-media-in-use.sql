-- Which images are shown, and what becomes of those that are not. `unused_since` is when the last post or story that showed it went,
-- or when it was uploaded; null while one shows it. A version that does not know these columns leaves it set: it is looked at again
-- before anything is deleted.
alter table media
  add column unused_since timestamptz default now(),
  add column doomed_at    timestamptz,  -- its file is to be deleted, and nothing may show it any more
  add column removed_at   timestamptz;  -- the file is gone; the row tells so for a while to who would show it again
create index media_unused on media (unused_since) where unused_since is not null and doomed_at is null;
create index media_to_remove on media (doomed_at) where doomed_at is not null and removed_at is null;
create index media_removed on media (removed_at) where removed_at is not null;
create index stories_with_media on stories (media_url) where cleared_at is null;
