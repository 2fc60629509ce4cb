-- Until when an account is suspended; null: until an operator lifts it. And the decision that was applied last.
alter table members add column suspended_until timestamptz;
alter table members add column decision_sequence bigint not null default 0;
create index members_suspended_until on members (suspended_until) where suspended_until is not null;
