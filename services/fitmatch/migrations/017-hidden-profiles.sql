-- Whether hidden_people hides the owner. Discover reads it in its index: reading all hidden people in each search took longer than
-- the search itself.
alter table profiles add column hidden boolean not null default false;
update profiles set hidden = true where account_id in (select account_id from hidden_people where is_hidden);

create function hide_profile () returns trigger language plpgsql as $$
begin
  update profiles set hidden = new.is_hidden where account_id = new.account_id and hidden <> new.is_hidden;
  return null;
end $$;
create trigger hide_profile after insert or update of is_hidden on hidden_people
  for each row execute function hide_profile();

create function hide_new_profile () returns trigger language plpgsql as $$
begin
  new.hidden := exists (select from hidden_people where account_id = new.account_id and is_hidden);
  return new;
end $$;
create trigger hide_new_profile before insert on profiles for each row execute function hide_new_profile();

-- The same index with one more column, so the previous version can use it too.
create index profiles_discover_visible on profiles (cell, gender_bit, preferred_gender_bits, birth_date)
  include (account_id, hidden, public_latitude, public_longitude, show_distance, trait_bits, age_min, age_max, interest_count, goal_count, time_count, day_count, sport_count, sport_bits)
  where is_discoverable;
drop index profiles_discover;
alter index profiles_discover_visible rename to profiles_discover;
