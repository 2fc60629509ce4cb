-- The second operator, where a decision needs two.
alter table decisions add column confirmed_by uuid;

-- operator-kit counts in every service now.
-- Safe: staff_reads, which no release has used
drop table staff_reads;
