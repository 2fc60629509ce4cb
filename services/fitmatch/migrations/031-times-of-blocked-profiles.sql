-- When the profile was blocked; null in older blocks, whose only time is created_at. A block by account has its own time
-- in created_at: one time in both lists would say whose profile it is.
alter table blocks add column profile_blocked_at timestamptz;
