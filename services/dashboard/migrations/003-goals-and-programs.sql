create table goals (
  account_id        uuid        primary key,
  daily_calories    numeric     check (daily_calories > 0),
  protein_target    numeric,
  carbs_target      numeric,
  fat_target        numeric,
  goal_type         text        not null default 'MAINTAIN',
  water_ml          integer     not null default 2000 check (water_ml > 0),
  sleep_minutes     integer     not null default 480 check (sleep_minutes > 0),
  workouts_per_week integer     not null default 3 check (workouts_per_week > 0),
  updated_at        timestamptz not null default now()
);

create table programs (
  id         uuid        primary key default uuidv7(),
  account_id uuid        not null,
  name       text        not null,
  created_at timestamptz not null default now(),
  unique (account_id, id)
);

-- At most one per account.
create table active_programs (
  account_id uuid primary key,
  program_id uuid not null,
  foreign key (account_id, program_id) references programs (account_id, id) on delete cascade
);
create index active_programs_by_program on active_programs (account_id, program_id);

create table program_days (
  id          uuid     primary key default uuidv7(),
  program_id  uuid     not null references programs on delete cascade,
  day_of_week smallint not null check (day_of_week between 1 and 7),  -- ISO: Monday is 1
  name        text     not null,
  is_rest_day boolean  not null,
  unique (program_id, day_of_week)
);

create table program_exercises (
  id             uuid     primary key default uuidv7(),
  program_day_id uuid     not null references program_days on delete cascade,
  position       smallint not null,
  name           text     not null,
  sets           integer  not null,
  reps_min       integer  not null,
  reps_max       integer  not null check (reps_max >= reps_min),
  unique (program_day_id, position)
);
