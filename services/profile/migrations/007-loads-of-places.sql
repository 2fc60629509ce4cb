-- How far an edition of the places is loaded. Each batch of lines is inserted under a lock of this row.
create table places_loads (
  edition text    primary key,
  lines   integer not null default 0,
  percent integer not null default 0
);
