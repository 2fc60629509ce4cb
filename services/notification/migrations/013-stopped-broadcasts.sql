-- When an operator stopped it, so that not everybody received it.
alter table broadcasts add column stopped_at timestamptz;
