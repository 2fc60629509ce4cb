-- A copy of what profile knows about the training of a person: the weekly target until a goal is set.
create table profile_facts (
  account_id        uuid        primary key,
  workout_frequency integer,
  changed_at        timestamptz not null
);
