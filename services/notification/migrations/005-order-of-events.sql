-- Which of two events about the same thing is the later one, by its place among the events of its service: two may be of one millisecond, as
-- changed_at has them.
alter table blocks add column sequence bigint not null default 0;
alter table post_likes add column sequence bigint not null default 0;
