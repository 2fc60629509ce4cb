-- When the content of a deleted post was deleted; the row remains, so that the post still reads as deleted.
alter table posts add column cleared_at timestamptz;
create index posts_to_clear on posts (id) where deleted_at is not null and cleared_at is null;
