-- The rows of expired stories stay: with stories_of_author, the rings read all stories that the followed people ever had.
create index stories_of_author_not_cleared on stories (author_id, id) where cleared_at is null;
