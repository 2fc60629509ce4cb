-- Feeds pass over the posts of hidden people by an index without them, however many they are.
alter table posts add column author_hidden boolean not null default false;
update posts set author_hidden = true where author_id in (select account_id from hidden_people where is_hidden);
