-- When the badges of an account are due to be recalculated, without a request.
create table badge_checks (
  account_id uuid        primary key,
  due_at     timestamptz not null
);
create index badge_checks_due on badge_checks (due_at);
