-- People who hide their distance are found by the middle of a public area, a square of about 11 km with fixed edges, and by nothing finer.
-- Its width in degrees grows with the latitude, so that it is as wide near a pole as elsewhere. All in hundredths of a degree.
create function area_latitude (latitude integer) returns integer language sql immutable
  return least((latitude + 9000) / 10, 1799) * 10 - 8995;
create function area_longitude (latitude integer, longitude integer) returns integer language sql immutable
  return (select round((((longitude + 18000) % 36000) * columns / 36000 + 0.5) * 36000 / columns)::integer - 18000
    from (select greatest(1, floor(3600 * cos(radians(area_latitude(latitude) / 100.0))))::integer as columns) as area_row);

-- The version before finds by the new cells and measures by the position itself, as it did, until it is replaced.
drop index profiles_to_find;
alter table profiles
  add column public_latitude smallint generated always as (case when show_distance then latitude else area_latitude(latitude) end) stored,
  add column public_longitude smallint generated always as (case when show_distance then longitude else area_longitude(latitude, longitude) end) stored,
  alter column cell set expression as (
    case when latitude is null then -1 - (hashtext(lower(coalesce(city, ''))) & 1048575)
      when show_distance then (latitude + 9000) / 5 * 7200 + (longitude + 18000) / 5 % 7200
      else (area_latitude(latitude) + 9000) / 5 * 7200 + (area_longitude(latitude, longitude) + 18000) / 5 % 7200 end);
create index profiles_to_find on profiles (cell, gender_bit, wished_genders, birth_date)
  include (account_id, public_latitude, public_longitude, show_distance, traits, age_min, age_max, interest_count, goal_count, time_count, day_count, sport_count, sports)
  where is_shown;
