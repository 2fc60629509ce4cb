-- Fasts of an account. Changes run one after the other under the account's row of `totals`, so that no two overlap.
create table fasts (
  id                uuid        primary key default uuidv7(),
  account_id        uuid        not null,
  plan              text        not null check (plan in ('12:12', '14:10', '16:8', '18:6', '20:4', 'CUSTOM')),
  goal_hours        smallint    not null check (goal_hours between 1 and 36),
  started_at        timestamptz not null,
  goal_at           timestamptz not null,
  ended_at          timestamptz,
  goal_due_at       timestamptz,  -- when the goal is to be published; null if it never is
  goal_published_at timestamptz,  -- a goal is published once, however often the fast is edited
  unique (account_id, started_at),
  check (ended_at > started_at and ended_at <= started_at + interval '72 hours'),
  check (goal_due_at is null or ended_at is null and goal_published_at is null)
);
create unique index fasts_one_running on fasts (account_id) where ended_at is null;
create index fasts_due on fasts (goal_due_at) where goal_due_at is not null;
