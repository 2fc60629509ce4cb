-- One row for each account, with or without a matching profile. Deleting a profile changes nothing here.
create table members (
  account_id            uuid        primary key,  -- an identity account; no foreign key crosses a service
  timezone              text        not null default 'Asia/Jakarta',
  person_changed_at     timestamptz,              -- when the newest applied change of the name or time zone was made
  weight                double precision,
  favorite_sports       text[]      not null default '{}',
  experience            text        not null default 'BEGINNER',
  facts_changed_at      timestamptz,              -- the same for weight, sports and experience
  subscribed_until      timestamptz,              -- null without an active subscription
  -- Position of the newest applied change among identity's events. Two changes can share a millisecond, so a time would not order them.
  subscription_sequence bigint,
  suspended_at          timestamptz,
  -- Never goes back to false. False also means unknown: identity is called where it matters.
  email_verified        boolean     not null default false
);

-- Separate from profiles because it changes every minute, and profiles are wide and indexed.
create table activity (
  account_id     uuid        primary key,
  last_active_at timestamptz not null
) with (fillfactor = 60);

-- Each sport has its own bit, so that one operation counts the sports two people share.
create table sports (
  id  text     primary key,
  bit smallint not null unique check (bit between 0 and 127)
);

-- The centre of the public area around a position, a square of about 11 km with fixed edges, in hundredths of a degree.
-- People who hide their distance are found by this centre and by nothing finer. The width in degrees grows with the latitude,
-- so that an area is as wide near a pole as elsewhere.
create function area_latitude (latitude integer) returns integer language sql immutable
  return least((latitude + 9000) / 10, 1799) * 10 - 8995;
create function area_longitude (latitude integer, longitude integer) returns integer language sql immutable
  return (select round((((longitude + 18000) % 36000) * columns / 36000 + 0.5) * 36000 / columns)::integer - 18000
    from (select greatest(1, floor(3600 * cos(radians(area_latitude(latitude) / 100.0))))::integer as columns) as area_row);

create table profiles (
  id                 uuid        primary key default uuidv7(),
  account_id         uuid        not null unique references members,
  display_name       text        not null,
  has_custom_name    boolean     not null,  -- false: display_name follows the name of the main profile
  bio                text,
  birth_date         date,
  gender             text        check (gender in ('MALE', 'FEMALE', 'OTHER')),
  height             smallint,              -- centimetres
  city               text,
  district           text,
  -- Hundredths of a degree. No finer position is stored, so none can leak.
  latitude           smallint    check (latitude between -9000 and 9000),
  longitude          smallint    check (longitude between -18000 and 18000),
  looking_for        text[]      not null,
  interested_in      text[]      not null,
  fitness_goals      text[]      not null,
  preferred_times    text[]      not null,
  workout_days       text[]      not null,
  age_min            smallint    not null,
  age_max            smallint    not null,
  max_distance       smallint    not null,  -- kilometres
  prompts            jsonb       not null,
  show_online_status boolean     not null default true,
  show_distance      boolean     not null default true,
  show_last_active   boolean     not null default true,
  tutorial_seen      boolean     not null default false,
  photo_verified     boolean     not null default false,
  paused             boolean     not null default false,
  suspended          boolean     not null,
  photo_count        smallint    not null default 0 check (photo_count between 0 and 6),
  venue_count        smallint    not null default 0 check (venue_count between 0 and 5),
  trait_bits         bigint      not null,  -- interests, goals, times and days, one bit each; see profiles/traits.ts
  sport_bits         bit(128)    not null,
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now(),

  check ((latitude is null) = (longitude is null)),
  check (age_min <= age_max),

  -- A suspension overrides the owner's own choice, and only an operator lifts it.
  status text not null generated always as (case when suspended then 'SUSPENDED' when paused then 'PAUSED' else 'ACTIVE' end) stored,
  is_discoverable boolean not null generated always as (not suspended and not paused and photo_count >= 2 and birth_date is not null) stored,
  -- 8 means an unknown gender: only people who look for everyone find it.
  gender_bit smallint not null generated always as (case gender when 'MALE' then 1 when 'FEMALE' then 2 when 'OTHER' then 4 else 8 end) stored,
  preferred_gender_bits smallint not null generated always as (
    case when looking_for @> '{MALE,FEMALE,OTHER}' then 15
      else ('MALE' = any(looking_for))::int + 2 * ('FEMALE' = any(looking_for))::int + 4 * ('OTHER' = any(looking_for))::int end) stored,
  -- How many bits of each kind are set (the masks of profiles/traits.ts), so that a search only has to count the shared ones.
  interest_count smallint not null generated always as (bit_count((trait_bits & 65535)::bit(64))) stored,
  goal_count smallint not null generated always as (bit_count((trait_bits & 4294901760)::bit(64))) stored,
  time_count smallint not null generated always as (bit_count((trait_bits & 17587891077120)::bit(64))) stored,
  day_count smallint not null generated always as (bit_count((trait_bits & 2234207627640832)::bit(64))) stored,
  sport_count smallint not null generated always as (bit_count(sport_bits)) stored,
  -- The position that every search uses: the stored one, or the centre of the public area for people who hide their distance.
  public_latitude smallint generated always as (case when show_distance then latitude else area_latitude(latitude) end) stored,
  public_longitude smallint generated always as (case when show_distance then longitude else area_longitude(latitude, longitude) end) stored,
  -- A square of a twentieth of a degree around the public position. Without a position, a negative number made from the name of the city.
  cell integer not null generated always as (
    case when latitude is null then -1 - (hashtext(lower(coalesce(city, ''))) & 1048575)
      when show_distance then (latitude + 9000) / 5 * 7200 + (longitude + 18000) / 5 % 7200
      else (area_latitude(latitude) + 9000) / 5 * 7200 + (area_longitude(latitude, longitude) + 18000) / 5 % 7200 end) stored
);

-- Discover filters by place, gender, preference and age within this index, and scores with the columns it includes, without touching the table.
create index profiles_discover on profiles (cell, gender_bit, preferred_gender_bits, birth_date)
  include (account_id, public_latitude, public_longitude, show_distance, trait_bits, age_min, age_max, interest_count, goal_count, time_count, day_count, sport_count, sport_bits)
  where is_discoverable;

-- Every change of position is a chance to measure how far away others are, so the changes per day are limited.
create table position_change_quota (
  account_id uuid     not null,
  day        date     not null,  -- in the account's own time zone
  used       smallint not null,
  primary key (account_id, day)
);

create table setup_drafts (
  account_id uuid        primary key,
  draft      jsonb       not null,
  saved_at   timestamptz not null default now()
);
