create table photos (
  id          uuid        primary key default uuidv7(),
  profile_id  uuid        not null references profiles on delete cascade,
  url         text        not null,
  uploaded    boolean     not null,  -- false: a URL outside our media storage, with no file to delete
  is_main     boolean     not null,
  sort_order  smallint    not null,
  created_at  timestamptz not null default now(),
  -- Whether an approved selfie was compared with this photo. A profile is verified while its main photo is.
  is_verified boolean     not null default false
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
