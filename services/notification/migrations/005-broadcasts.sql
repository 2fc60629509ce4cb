create table broadcasts (
  id                uuid        primary key,
  title             jsonb       not null,
  body              jsonb       not null,
  cursor_account_id uuid        not null default '00000000-0000-0000-0000-000000000000',  -- every account up to this one is done
  recipients_count  integer     not null default 0,
  created_at        timestamptz not null default now(),
  finished_at       timestamptz
);
create index broadcasts_unfinished on broadcasts (created_at) where finished_at is null;
