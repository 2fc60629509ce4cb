-- A copy of what profile says of a person: for his days when profile is away, and for his name.
create table people (
  account_id uuid        primary key,
  name       text        not null,
  image      text,
  timezone   text        not null,
  as_of      timestamptz not null
);
