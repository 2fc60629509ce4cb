-- A profile whose owner has deleted it while he was, or had lately been, matched: for 30 days those he was matched with may still report
-- him by it. Nobody else finds it, and nobody is shown anything of it but operators in a report.
create table departed_profiles (
  id           uuid        primary key,  -- the profile's
  account_id   uuid        not null,
  display_name text        not null,
  profile      jsonb       not null,
  photo_urls   text[]      not null,     -- those whose files are to be deleted with it
  deleted_at   timestamptz not null default now()
);
create index departed_profiles_by_age on departed_profiles (deleted_at);

-- A profile is verified as long as its main photo is one that was compared with the selfie.
alter table photos add column is_verified boolean not null default false;
update photos set is_verified = true from profiles where profiles.id = photos.profile_id and photo_verified;
alter table verifications add column lapsed_at timestamptz;
