-- Photos that were uploaded here, so that those which no profile names can be deleted.
create table uploads (
  key          text        primary key,
  account_id   uuid        not null,
  unused_since timestamptz default now(),  -- null once the owner's profile has named it
  deleting_at  timestamptz,                -- its file is to be deleted, and no profile may name it any more
  created_at   timestamptz not null default now()
);
create index uploads_unused_of_account on uploads (account_id, created_at desc) where unused_since is not null and deleting_at is null;
create index uploads_unused on uploads (unused_since) where unused_since is not null and deleting_at is null;
create index uploads_to_delete on uploads (deleting_at) where deleting_at is not null;
