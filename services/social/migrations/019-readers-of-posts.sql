-- Who has read a post, for the ranking of trending posts: however often one person reads a post, it counts once. Readers of
-- posts that are too old to be ranked are deleted.
create table post_readers (
  post_id    uuid not null references posts on delete cascade,
  account_id uuid not null,
  primary key (post_id, account_id)
);
create index post_readers_of_account on post_readers (account_id);
