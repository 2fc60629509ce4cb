-- For the erasure of the account. The other indexes have unused uploads only.
create index uploads_of_account on uploads (account_id);
