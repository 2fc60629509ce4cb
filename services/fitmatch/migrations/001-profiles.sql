-- What is known of an account whether or not it has a matching profile, and what it cannot shed by deleting one.
create table members (
  account_id            uuid        primary key,  -- an identity account; no foreign key crosses a service
  timezone              text        not null default 'Asia/Jakarta',
  person_heard_at       timestamptz,
  weight                double precision,
  favorite_sports       text[]      not null default '{}',
  experience            text        not null default 'BEGINNER',
  facts_heard_at        timestamptz,
  subscribed_until      timestamptz,              -- null without an active subscription
  subscription_heard_at timestamptz,
  suspended_at          timestamptz
);

-- When somebody was last seen, by himself in a narrow table: it changes each minute, and profiles are wide and indexed.
create table activity (
  account_id     uuid        primary key,
  last_active_at timestamptz not null
) with (fillfactor = 60);

-- Each sport that anybody has named has a bit of its own, so that what two people share is counted in one step.
create table sports (
  id  text     primary key,
  bit smallint not null unique check (bit between 0 and 127)
);

create table profiles (
  id                 uuid        primary key default uuidv7(),
  account_id         uuid        not null unique references members,
  display_name       text        not null,
  has_own_name       boolean     not null,  -- false: the name follows the person's
  bio                text,
  birth_date         date,
  gender             text        check (gender in ('MALE', 'FEMALE', 'OTHER')),
  height             smallint,
  city               text,
  district           text,
  -- Hundredths of a degree. No finer position is ever stored, so none can be found out.
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
  traits             bigint      not null,  -- interests, goals, times and days, a bit each
  sports             bit(128)    not null,
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now(),

  check ((latitude is null) = (longitude is null)),
  check (age_min <= age_max),

  -- A suspension lies over what its owner wishes, who has no way to lift it.
  status text not null generated always as (case when suspended then 'SUSPENDED' when paused then 'PAUSED' else 'ACTIVE' end) stored,
  is_shown boolean not null generated always as (not suspended and not paused and photo_count >= 2 and birth_date is not null) stored,
  -- 8 stands for a gender that is not known: only who looks for everyone finds it.
  gender_bit smallint not null generated always as (case gender when 'MALE' then 1 when 'FEMALE' then 2 when 'OTHER' then 4 else 8 end) stored,
  wished_genders smallint not null generated always as (
    case when looking_for @> '{MALE,FEMALE,OTHER}' then 15
      else ('MALE' = any(looking_for))::int + 2 * ('FEMALE' = any(looking_for))::int + 4 * ('OTHER' = any(looking_for))::int end) stored,
  -- How many bits of each kind are set (the masks of profiles/traits.ts), so that a search counts only what is shared.
  interest_count smallint not null generated always as (bit_count((traits & 65535)::bit(64))) stored,
  goal_count smallint not null generated always as (bit_count((traits & 4294901760)::bit(64))) stored,
  time_count smallint not null generated always as (bit_count((traits & 17587891077120)::bit(64))) stored,
  day_count smallint not null generated always as (bit_count((traits & 2234207627640832)::bit(64))) stored,
  sport_count smallint not null generated always as (bit_count(sports)) stored,
  -- A square of a twentieth of a degree. Who has no position is found by those of his city who have none either.
  cell integer not null generated always as (
    case when latitude is null then -1 - (hashtext(lower(coalesce(city, ''))) & 1048575)
      else (latitude + 9000) / 5 * 7200 + (longitude + 18000) / 5 % 7200 end) stored
);

-- Discover cuts by place, gender and age within this index, and scores by what it carries, without touching the table.
create index profiles_to_discover on profiles (cell, gender_bit, birth_date)
  include (account_id, id, wished_genders, age_min, age_max, latitude, longitude, traits, sports, interest_count, goal_count, time_count, day_count, sport_count)
  where is_shown;

create table photos (
  id         uuid        primary key default uuidv7(),
  profile_id uuid        not null references profiles on delete cascade,
  url        text        not null,
  uploaded   boolean     not null,  -- false: the file belongs to the main profile
  is_main    boolean     not null,
  sort_order smallint    not null,
  created_at timestamptz not null default now()
);
create index photos_in_order on photos (profile_id, sort_order);
create unique index photos_one_main on photos (profile_id) where is_main;

create table venues (
  id         uuid        primary key default uuidv7(),
  profile_id uuid        not null references profiles on delete cascade,
  chain_id   text,
  name       text        not null,
  branch     text,
  city       text,
  latitude   double precision,
  longitude  double precision,
  place_id   text,
  is_custom  boolean     not null,
  sort_order smallint    not null,
  created_at timestamptz not null default now()
);
create index venues_in_order on venues (profile_id, sort_order);

create table setup_drafts (
  account_id uuid        primary key,
  draft      jsonb       not null,
  saved_at   timestamptz not null default now()
);

-- How often somebody moved on a day of his own: each move is a chance to measure how far others are.
create table moves (
  account_id uuid     not null,
  day        date     not null,
  used       smallint not null,
  primary key (account_id, day)
);
