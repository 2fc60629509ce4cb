-- The posts that show an achievement. A deleted one stays: its events can arrive in any order.
create table shared_achievements (
  post_id        uuid    primary key,  -- of social
  account_id     uuid    not null,
  achievement_id uuid    not null,
  is_deleted     boolean not null
);
create index shared_achievements_of_account on shared_achievements (account_id, achievement_id, post_id desc);
