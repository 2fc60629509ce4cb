create table people (
  account_id               uuid             primary key,  -- an identity account; no foreign key crosses a service
  name                     text             not null,
  username                 text             not null,
  image                    text,                          -- a media key, or the URL of an external image; so are photos
  published_media_base     text,                          -- the base URL of the image in the last published event
  bio                      text,
  gender                   text             check (gender in ('MALE', 'FEMALE', 'OTHER')),
  birth_date               date,
  height                   double precision,              -- centimetres
  height_unit              text             not null default 'cm' check (height_unit in ('cm', 'feet')),
  weight                   double precision,              -- kilograms
  weighed_at               timestamptz,                   -- when the weight last changed
  weight_unit              text             not null default 'kg' check (weight_unit in ('kg', 'pound')),
  fitness_goal             text,
  experience               text             not null default 'BEGINNER',
  photos                   text[]           not null default '{}',
  community_rules_accepted boolean          not null default false,
  country_id               integer,
  region_id                integer,
  city_id                  integer,
  locale                   text             not null,
  timezone                 text             not null default 'Asia/Jakarta',
  timezone_chosen          boolean          not null default false,  -- false: the time zone follows the place
  motivations              text[]           not null default '{}',
  favorite_sports          text[]           not null default '{}',
  activity_style           text[]           not null default '{}',
  preferred_availability   text[]           not null default '{}',
  preferred_workout_time   text[]           not null default '{}',
  workout_frequency        integer,
  location_enabled         boolean,
  push_notifications       boolean,
  latitude                 double precision,
  longitude                double precision,
  current_step             integer          not null default 0 check (current_step between 0 and 3),
  current_sub_step         integer          not null default 0,
  completed_at             timestamptz,
  skipped_at               timestamptz,
  created_at               timestamptz      not null default now(),
  updated_at               timestamptz      not null default now()
);
-- Usernames are case-insensitive.
create unique index people_by_username on people (lower(username));
create index people_with_pictures on people (published_media_base) where image like 'public/%';
