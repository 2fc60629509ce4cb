-- When somebody last told another weight. Null where the version before this one wrote it: then it is as old as the profile.
alter table people add column weighed_at timestamptz;
