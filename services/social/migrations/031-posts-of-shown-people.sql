-- Without a transaction: posts are written meanwhile. It follows posts_public_newest_first, which goes one release later.
create index concurrently if not exists posts_shown_newest_first on posts (id desc) include (author_id)
  where deleted_at is null and visibility = 'PUBLIC' and not author_hidden;
