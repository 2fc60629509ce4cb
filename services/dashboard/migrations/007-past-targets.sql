-- Targets of the past: they hold up to and including last_day, and after the last row the goals do. So a new goal does
-- not change the scores of earlier days.
create table past_targets (
  account_id        uuid    not null,
  last_day          date    not null,
  daily_calories    numeric not null,
  water_ml          integer not null,
  sleep_minutes     integer not null,
  workouts_per_week integer not null,
  primary key (account_id, last_day)
);
