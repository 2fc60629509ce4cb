-- Photos that were uploaded here, tracked so that photos without a profile can be deleted.
create table uploads (
  key                 text        primary key,
  account_id          uuid        not null,
  unused_since        timestamptz default now(),  -- null while the owner's profile uses it
  delete_requested_at timestamptz,                -- the file will be deleted, and no profile can use it any more
  created_at          timestamptz not null default now()
);
create index uploads_unused_by_account on uploads (account_id, created_at desc) where unused_since is not null and delete_requested_at is null;
create index uploads_unused_oldest_first on uploads (unused_since) where unused_since is not null and delete_requested_at is null;
create index uploads_to_delete on uploads (delete_requested_at) where delete_requested_at is not null;
