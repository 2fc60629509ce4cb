-- Every stored selfie that has not been erased. The row is written before the file, so a selfie that no verification names was left behind by a crash.
create table selfies (
  key        text        primary key,
  created_at timestamptz not null default now()
);

create table verifications (
  id           uuid        primary key default uuidv7(),
  account_id   uuid        not null,
  profile_id   uuid        not null,
  status       text        not null default 'PENDING' check (status in ('PENDING', 'APPROVED', 'REJECTED', 'CANCELED')),
  selfie_key   text        references selfies on delete set null,
  reason       text,
  submitted_at timestamptz not null default now(),
  decided_at   timestamptz,
  revoked_at   timestamptz  -- when an approval ended because the main photo changed
);
create unique index verifications_pending_once on verifications (account_id) where status = 'PENDING';
create index verifications_by_account on verifications (account_id, id desc);
create index verifications_by_status on verifications (status, id);
create index verifications_by_selfie on verifications (selfie_key) where selfie_key is not null;

-- The photos that were on the profile when the selfie was submitted. An approval covers these only, so a photo that is added while operators
-- compare is not approved with them.
create table verification_photos (
  verification_id uuid    not null references verifications on delete cascade,
  photo_id        uuid    not null references photos on delete cascade,
  is_main         boolean not null,
  primary key (verification_id, photo_id)
);
create index verification_photos_by_photo on verification_photos (photo_id);

create table badges (
  account_id uuid        not null,
  badge      text        not null,
  earned_at  timestamptz not null default now(),
  primary key (account_id, badge)
);

-- As of the last recalculation.
create table badge_progress (
  account_id uuid     not null,
  badge      text     not null,
  progress   smallint not null,  -- percent
  primary key (account_id, badge)
);
