-- What clients need to lay out the picture of a person before it is loaded. Null for pictures of other hosts, and for
-- copies from before these columns.

alter table people
  add column image_width    integer,
  add column image_height   integer,
  add column image_blurhash text;
