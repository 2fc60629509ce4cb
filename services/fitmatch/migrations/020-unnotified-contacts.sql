-- When it was certain that the contact could not be notified of the alarm.
alter table meetings add column contact_failed_at timestamptz;
