-- Exercises that are not in the library.
create table custom_exercises (
  id         uuid        primary key default uuidv7(),
  account_id uuid        not null,
  key        text        not null,  -- the name, as records are keyed by it
  name       text        not null,
  created_at timestamptz not null default now(),
  unique (account_id, key)
);

-- An id of the library or of custom_exercises; null in programs that are older.
alter table program_exercises add exercise_id text;
