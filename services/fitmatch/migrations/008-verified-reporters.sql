-- Whether the account's address is verified; once it is, it stays so. False as long as nobody has said it: identity is asked where it matters.
alter table members add column address_verified boolean not null default false;
-- Whose reports count once their address is verified.
create index reports_open_of_reporter on reports (reporter_id) where status = 'OPEN';
