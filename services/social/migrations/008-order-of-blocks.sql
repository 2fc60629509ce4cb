-- Which block or unblock is the later one, by its place among the events of fitmatch: two may be of one millisecond, as changed_at has them.
alter table blocks add column sequence bigint not null default 0;
