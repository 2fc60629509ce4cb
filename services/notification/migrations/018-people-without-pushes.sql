-- Whether a person wants pushes; null if they were never asked.
alter table people add column push_notifications boolean;
