-- Somebody who was invited only because they follow the host: the host knows their account, and sees no FitMatch profile
-- until they accept.
alter table activity_participants add column by_account boolean not null default false;
