-- Who gave a reserved username up and can take it back; null for an erased account.
alter table reserved_usernames add column account_id uuid;
create index reserved_usernames_by_account on reserved_usernames (account_id);
