-- What a post shows, as it was when the post was created.
alter table posts add column workout jsonb;
alter table posts add column achievement jsonb;
alter table posts add column activity jsonb;

-- The place of a post is published to 0.01° only.
update posts set latitude = round(latitude::numeric, 2), longitude = round(longitude::numeric, 2)
  where latitude is not null or longitude is not null;

-- Activities of fitmatch that were canceled, until the last post that shows them as planned is out of date.
create table canceled_activities (
  activity_id uuid        primary key,
  starts_at   timestamptz not null
);
create index canceled_activities_by_start on canceled_activities (starts_at);
