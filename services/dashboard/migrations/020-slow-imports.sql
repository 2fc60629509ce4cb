-- Takes longer than most: it waits for those that do not.
alter table imports add column is_slow boolean not null default false;
