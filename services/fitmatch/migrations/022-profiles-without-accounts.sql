-- Blocks by account are listed apart from those by profile, so that no list says which account a profile belongs to.
alter table blocks add column by_account boolean not null default false;
-- A person who was asked as a FitMatch profile is shown as that until they agree.
alter table buddy_requests add column by_profile boolean not null default false;
