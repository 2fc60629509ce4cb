-- The sequence of the decision that was applied last. An older one that arrives later changes nothing.
alter table cases add column decision_sequence bigint not null default 0;
