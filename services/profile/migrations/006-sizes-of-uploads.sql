-- What clients need to lay out a picture before it is loaded. Null for uploads from before these columns.

alter table uploads
  add column width    integer,
  add column height   integer,
  add column blurhash text;
