-- The account that a mail is about, so that its mails are erased with it.
alter table mails add column account_id uuid;
create index mails_by_account on mails (account_id) where account_id is not null;
