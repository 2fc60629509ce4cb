-- What clients need to lay out a photo before it is loaded. Null for photos of other hosts, and for those from before
-- these columns.

alter table photos
  add column width    integer,
  add column height   integer,
  add column blurhash text;
alter table removed_photos
  add column width    integer,
  add column height   integer,
  add column blurhash text;
