-- The birth date of the main profile. A FitMatch profile has the same until its owner sets another one there.
alter table members add column birth_date date;
-- Of profiles that exist, only a missing date is filled in.
alter table profiles add column has_custom_birth_date boolean not null default true;
