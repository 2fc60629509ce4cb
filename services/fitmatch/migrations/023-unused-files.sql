-- Files that nothing shows any more, from the transaction that stopped showing them until they are deleted.
create table unused_files (
  key      text        primary key,
  added_at timestamptz not null default now()
);
