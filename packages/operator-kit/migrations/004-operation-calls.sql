-- How often versions of the app called an operation on a day, and how many of these calls failed. Kept for 90 days.
create table operation_calls (
  day         date   not null,
  operation   text   not null,
  platform    text   not null,  -- ios, android, web or unknown
  app_version text   not null,  -- unknown without one; other for those above the number that is counted in a day
  calls       bigint not null,
  errors      bigint not null,
  primary key (day, operation, platform, app_version)
);
create index operation_calls_by_operation on operation_calls (operation);
