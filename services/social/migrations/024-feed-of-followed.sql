-- With hidden_at: the posts of followed people are then found in the index alone.
drop index posts_of_author_newest_first;
create index posts_of_author_newest_first on posts (author_id, id desc) include (visibility, type, hidden_at)
  where deleted_at is null;
