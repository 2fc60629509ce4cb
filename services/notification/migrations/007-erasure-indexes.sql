-- The rows of one account, for their erasure and for a copy of the account's data.
create index notifications_by_actor on notifications (actor_id) where actor_id is not null;
create index post_likes_of_account on post_likes (liked_by);
create index blocks_received on blocks (blocked_id);
