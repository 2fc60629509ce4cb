-- What clients need to lay out an image before it is loaded. Null for messages without one.
alter table messages
  add column image_width    integer,
  add column image_height   integer,
  add column image_blurhash text;
