-- When an import last had a place, so that those that a newer extract lacks can be deleted; and when an operator removed
-- it. The row of a removed place stays, without its name, so that neither an import nor people bring it back.
alter table places
  add column imported_at timestamptz,
  add column removed_at  timestamptz;
-- In milliseconds, which is all that a program keeps of a time.
alter table place_imports add column started_at timestamptz not null default date_trunc('milliseconds', now());

drop index places_near;
-- A search computes distances and compares names within this index.
create index places_near on places (cell) include (id, latitude, longitude, name_key) where removed_at is null;
