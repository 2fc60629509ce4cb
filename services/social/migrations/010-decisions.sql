-- The decision about a thing that was applied last. An older one that arrives later changes nothing.
create table content_decisions (
  target_type text   not null,
  target_id   uuid   not null,
  account_id  uuid   not null,
  sequence    bigint not null,
  primary key (target_type, target_id)
);
create index content_decisions_of_account on content_decisions (account_id);

-- Until when an account must not write here; null: until it is lifted. A lifted restriction stays, with a time in the past.
create table posting_restrictions (
  account_id       uuid        primary key,
  restricted_until timestamptz,
  sequence         bigint      not null
);
