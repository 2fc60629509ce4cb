-- Files that nothing shows: new ones until a row shows them, and old ones until they are deleted.
create table unused_files (
  key          text        primary key,
  delete_after timestamptz not null default now()
);
