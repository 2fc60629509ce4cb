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
create index regions_of_country on regions (country_id, name);

create table cities (
  id         integer          primary key,
  country_id integer          not null references countries,
  region_id  integer          references regions,
  name       text             not null,
  name_local text,
  timezone   text             not null,
  population integer          not null,  -- 0 where it is not known
  latitude   double precision not null,
  longitude  double precision not null
);
create index cities_of_country on cities (country_id, population desc, name, id);
create index cities_of_region on cities (region_id, population desc, name, id);

-- Which edition of the places is loaded.
create table places_edition (
  edition   text        primary key,
  loaded_at timestamptz not null default now()
);
