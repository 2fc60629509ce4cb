-- Logs go on to name a deleted exercise by its id.
alter table custom_exercises add deleted_at timestamptz;
