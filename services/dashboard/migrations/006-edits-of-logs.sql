-- When the client wrote this version of a log; null if it did not say. Of two versions the later one stays.
alter table logs add column modified_at timestamptz;
