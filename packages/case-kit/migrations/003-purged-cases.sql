-- Since when a case is being purged. It cannot be held any more.
alter table cases add column purged_at timestamptz;
create index cases_being_purged on cases (purged_at) where purged_at is not null;
