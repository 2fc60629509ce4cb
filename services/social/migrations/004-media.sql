-- Images uploaded to this service, and whether a post or a story still shows them.
create table media (
  key                 text        primary key,
  account_id          uuid        not null,
  mime_type           text        not null,
  width               integer     not null,
  height              integer     not null,
  bytes               integer     not null,
  created_at          timestamptz not null default now(),
  unused_since        timestamptz default now(),  -- when the last post or story stopped showing it, or when it was uploaded; null while it is shown
  delete_requested_at timestamptz,                -- from then on its file is to be deleted and nothing new can show it
  deleted_at          timestamptz                 -- when its file was deleted; the row stays for a while so that a new use of it is refused
);
create index media_unused on media (unused_since) where unused_since is not null and delete_requested_at is null;
create index media_to_delete on media (delete_requested_at) where delete_requested_at is not null and deleted_at is null;
create index media_deleted on media (deleted_at) where deleted_at is not null;
