-- When the text of a post was last changed or hidden. Events about it that are older, and arrive later, quote nothing.
create table edited_posts (
  post_id   uuid        primary key,
  edited_at timestamptz not null
);
create index edited_posts_oldest_first on edited_posts (edited_at);
