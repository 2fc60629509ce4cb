-- How often a worker has taken an export. It also tells two workers apart, as `claim` did, which is not used any more.
alter table exports add column attempts smallint not null default 0;
