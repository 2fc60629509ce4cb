-- A copy of a person's profile: the time zone for days while profile is unavailable, and the name.
create table people (
  account_id uuid        primary key,
  name       text        not null,
  image      text,
  timezone   text        not null,
  changed_at timestamptz not null  -- when profile made the change; an older change never replaces a newer one
);

-- A copy of the weight in the profile. It is the current weight until a later one is logged.
create table profile_weights (
  account_id uuid             primary key,
  kg         double precision not null,
  weighed_at timestamptz      not null
);
