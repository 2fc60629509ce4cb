create table issue_reports (
  id          uuid        primary key default uuidv7(),
  email       text        not null,
  description text        not null,
  created_at  timestamptz not null default now()
);
