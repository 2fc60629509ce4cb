-- Blocks by account are listed apart from those by profile, so that no list says which account a profile belongs to.
alter table blocks add column by_account boolean not null default false;
-- Whom somebody asked as a FitMatch profile, they see as that until the person agrees.
alter table buddy_requests add column by_profile boolean not null default false;
