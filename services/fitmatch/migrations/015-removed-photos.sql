-- Photos that operators removed, until nobody can appeal any more. A row without a URL is of a photo that was restored
-- before its removal arrived.
create table removed_photos (
  photo_id    uuid        primary key,
  account_id  uuid        not null,
  url         text,
  copy        text,                         -- the key of a private copy; null if the photo was not uploaded here
  is_main     boolean     not null default false,
  is_verified boolean     not null default false,
  sort_order  integer     not null default 0,
  sequence    bigint      not null,         -- of the last decision about it
  removed_at  timestamptz not null default now(),
  restored_at timestamptz
);
create index removed_photos_of_account on removed_photos (account_id);
create index removed_photos_to_purge on removed_photos (removed_at);
