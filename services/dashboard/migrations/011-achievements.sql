-- What a post about the achievement refers to.
alter table achievements add column id uuid not null default uuidv7();

-- The activities with others that a person took part in, each counted once.
create table attended_activities (
  account_id  uuid not null,
  activity_id uuid not null,
  primary key (account_id, activity_id)
);

-- Which days of a program were trained.
create index logs_of_program_day on logs (account_id, (data ->> 'programDayId')) where data ? 'programDayId';
