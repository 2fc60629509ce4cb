-- A copy of the weight in the profile, and since when it is so: it counts as the current one until a later one is logged.
create table profile_weights (
  account_id uuid             primary key,
  kg         double precision not null,
  weighed_at timestamptz      not null
);
