-- `limits` of the brand says how many photos and venues a profile can have.
alter table profiles drop constraint profiles_photo_count_check, drop constraint profiles_venue_count_check;
