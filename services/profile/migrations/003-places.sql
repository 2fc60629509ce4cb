create table countries (
  id               integer primary key,
  code             text    not null unique,
  name             text    not null,
  flag             text    not null,
  currency         text,
  default_timezone text    not null
);

create table regions (
  id         integer primary key,
  country_id integer not null references countries,
  code       text,
  name       text    not null,
  name_local text,
  timezone   text    not null
);
create index regions_by_country on regions (country_id, name);

create table cities (
  id         integer          primary key,
  country_id integer          not null references countries,
  region_id  integer          references regions,
  name       text             not null,
  name_local text,
  timezone   text             not null,
  population integer          not null,  -- 0 if unknown
  latitude   double precision not null,
  longitude  double precision not null
);
create index cities_by_country on cities (country_id, population desc, name, id);
create index cities_by_region on cities (region_id, population desc, name, id);

-- The editions of the places that have been loaded; the newest one is current.
create table places_editions (
  edition   text        primary key,
  loaded_at timestamptz not null default now()
);
