-- The most used hashtags of the last week, counted in the background: one row, or none before the first count. Posts of the week
-- are too many to count them for each reader.
create table hashtag_counts (
  is_only     boolean     primary key default true check (is_only),
  tags        jsonb       not null,  -- [{"tag", "postsCount"}], the most used first
  after       uuid        not null,  -- posts with greater ids were counted
  duration_ms integer     not null,
  counted_at  timestamptz not null
);
