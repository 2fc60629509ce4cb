-- A file that is being stored while its row is deleted appears after its removal. So each is removed again in the next pass.
alter table files_to_erase add column removed_at timestamptz;
