-- What was planned, and what became of it, when somebody reports what happened at an activity.
alter table reports add column activity_id uuid;
alter table reports add column activity    jsonb;
