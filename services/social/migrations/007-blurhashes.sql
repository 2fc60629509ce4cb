-- Null for images from before this column, which have no thumbnails either.
alter table media add column blurhash text;
