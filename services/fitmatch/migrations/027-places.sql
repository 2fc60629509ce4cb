-- Gyms to choose from: those of an import, or, without one, those that several people have added.
create table places (
  id        text             primary key,  -- the id of the source, with its name before it
  source    text             not null check (source in ('OVERTURE', 'OPENSTREETMAP', 'OWN', 'PEOPLE')),
  name      text             not null,
  name_key  text             not null,     -- the name as searches compare it
  city      text,
  chain_id  text,
  latitude  double precision not null check (latitude between -90 and 90),
  longitude double precision not null check (longitude between -180 and 180),
  -- The grid of profiles.cell: squares of a twentieth of a degree.
  cell      integer          not null generated always as (
    floor((latitude + 90) * 20)::integer * 7200 + floor((longitude + 180) * 20)::integer % 7200) stored
);
-- A search computes distances and compares names within this index.
create index places_near on places (cell) include (id, latitude, longitude, name_key);
create index places_of_people on places (name_key) where source = 'PEOPLE';

-- How far a file is imported. Each batch is inserted under a lock of this row.
create table place_imports (
  file        text        primary key,
  records     bigint      not null default 0,
  places      bigint      not null default 0,
  finished_at timestamptz
);

-- Two venues are the same gym if they share one of these keys: a place, or a branch of a chain. What a person wrote
-- themselves has none.
alter table venues
  add column name_key text not null default '',
  add column changed_at timestamptz not null default now(),
  add column gym_keys text[] not null generated always as (
    case when is_custom then '{}' else array_remove(array[
      'place ' || place_id, 'branch ' || chain_id || '/' || lower(coalesce(city, '')) || '/' || lower(branch)], null) end) stored;
update venues set name_key = lower(name);
create index venues_by_gym on venues using gin (gym_keys);
create index venues_by_name on venues (name_key) where latitude is not null;
create index venues_by_change on venues (changed_at) where latitude is not null;
