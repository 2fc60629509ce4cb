-- The operators who invited an operator, or let them in again. The shell is nobody.
alter table staff add column invited_by uuid[] not null default '{}';
