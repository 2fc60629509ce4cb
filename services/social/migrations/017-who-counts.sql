-- Nobody sees a hidden person, so what they did counts nowhere, and counts again once they are back. The counters of
-- posts, comments, polls, stories and follows still contain every row: a response subtracts the rows that are marked here.
alter table likes add column account_hidden boolean not null default false;
alter table comments add column author_hidden boolean not null default false;
alter table poll_votes add column account_hidden boolean not null default false;
alter table story_views add column account_hidden boolean not null default false;
alter table story_reactions add column account_hidden boolean not null default false;
alter table follows
  add column follower_hidden boolean not null default false,
  add column followed_hidden boolean not null default false;
update likes set account_hidden = true where account_id in (select account_id from hidden_people where is_hidden);
update comments set author_hidden = true where author_id in (select account_id from hidden_people where is_hidden);
update poll_votes set account_hidden = true where account_id in (select account_id from hidden_people where is_hidden);
update story_views set account_hidden = true where account_id in (select account_id from hidden_people where is_hidden);
update story_reactions set account_hidden = true where account_id in (select account_id from hidden_people where is_hidden);
update follows set follower_hidden = true where follower_id in (select account_id from hidden_people where is_hidden);
update follows set followed_hidden = true where followed_id in (select account_id from hidden_people where is_hidden);

create index likes_of_hidden_people on likes (post_id) where account_hidden;
create index comments_not_shown on comments (post_id) where author_hidden or hidden_at is not null;
create index replies_not_shown on comments (parent_id) where author_hidden or hidden_at is not null;
create index comments_of_post_by_author on comments (post_id, author_id);
create index votes_of_hidden_people on poll_votes (post_id) where account_hidden;
create index views_of_hidden_people on story_views (story_id) where account_hidden;
create index reactions_of_hidden_people on story_reactions (story_id) where account_hidden;
create index followers_hidden on follows (followed_id) where follower_hidden;
create index followed_people_hidden on follows (follower_id) where followed_hidden;
