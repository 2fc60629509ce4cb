-- The rows of one account, for their erasure and for a copy of the account's data.
create index likes_of_account on likes (account_id);
create index comments_of_author on comments (author_id);
create index mentions_of_account on mentions (account_id);
create index poll_votes_of_account on poll_votes (account_id);
create index story_views_of_account on story_views (account_id);
create index story_reactions_of_account on story_reactions (account_id);
create index posts_of_author on posts (author_id);
create index media_of_account on media (account_id);
create index blocks_with_person on blocks (other_id);
create index matches_with_person on matches (other_id);
