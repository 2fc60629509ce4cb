-- The totals of an account. Every change to its logs locks this row first, so that changes run one after the other.
create table totals (
  account_id      uuid    primary key,  -- an identity account; no foreign key crosses a service
  xp              integer not null default 0,
  workouts        integer not null default 0,
  workout_minutes bigint  not null default 0,
  food_entries    integer not null default 0,
  records         integer not null default 0,
  highest_level   integer not null default 1  -- the highest level ever published: a level lost and reached again is not published again
);

create table logs (
  id         uuid        primary key default uuidv7(),
  account_id uuid        not null,
  client_id  text        not null,  -- an id chosen by the client
  type       text        not null check (type in ('WORKOUT', 'FOOD', 'WATER', 'SLEEP', 'WEIGHT')),
  at         timestamptz not null,
  day        date        not null,  -- the calendar day in `timezone`; neither changes when the user moves
  timezone   text        not null,
  data       jsonb       not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (account_id, client_id)
);
create index logs_newest_first on logs (account_id, at desc, id desc);
create index logs_of_type_newest_first on logs (account_id, type, at desc, id desc);
create index logs_of_day on logs (account_id, day);

-- The sums over the logs of a day, updated in the same transaction. A day without logs has no row.
create table daily_summaries (
  account_id      uuid    not null,
  day             date    not null,
  workouts        integer not null,
  workout_minutes integer not null,
  food_entries    integer not null,
  calories        numeric not null,
  protein         numeric not null,
  water_entries   integer not null,
  water_ml        integer not null,
  sleep_entries   integer not null,
  sleep_minutes   integer not null,
  sleep_quality   integer not null,  -- the sum over the day's entries
  weight_entries  integer not null,
  records         integer not null,
  xp              integer not null,
  primary key (account_id, day)
);

-- The heaviest set of each exercise of each workout. It is a record if it is heavier than all earlier ones.
create table lifts (
  log_id       uuid        not null references logs on delete cascade,
  account_id   uuid        not null,
  exercise_key text        not null,  -- the name, normalized for case and spacing
  exercise     text        not null,
  weight_kg    numeric     not null check (weight_kg > 0),
  reps         integer     not null,
  at           timestamptz not null,
  is_record    boolean     not null default false,
  primary key (log_id, exercise_key)
);
create index lifts_in_order on lifts (account_id, exercise_key, at, log_id);
create index records_newest_first on lifts (account_id, exercise_key, at desc, log_id desc) where is_record;

-- Consecutive days with a log, days with water, and ISO weeks (by their Mondays) with a workout. No two streaks of a kind are adjacent.
create table streaks (
  account_id uuid not null,
  kind       text not null check (kind in ('DAY', 'WATER', 'WEEK')),
  first_day  date not null,
  last_day   date not null check (last_day >= first_day),
  primary key (account_id, kind, first_day)
);
create index streaks_newest_first on streaks (account_id, kind, last_day desc);
create index streaks_longest_first on streaks (account_id, kind, (last_day - first_day) desc);

create table achievements (
  account_id  uuid        not null,
  achievement text        not null,
  earned_at   timestamptz not null default now(),
  primary key (account_id, achievement)
);
