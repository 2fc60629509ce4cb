-- Discover's index, narrower, and with the wishes of those who are found among its keys: a third fewer rows are read, from two thirds of
-- the pages. The version before this one finds the same by it, though it looks up each profile until it is replaced.
create index profiles_to_find on profiles (cell, gender_bit, wished_genders, birth_date)
  include (account_id, latitude, longitude, traits, age_min, age_max, interest_count, goal_count, time_count, day_count, sport_count, sports)
  where is_shown;
drop index profiles_to_discover;
