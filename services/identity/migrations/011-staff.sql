-- The operators. They are no accounts of the app, and have no password.
create table staff (
  id          uuid        primary key default uuidv7(),
  email       text        not null unique,
  role        text        not null check (role in ('SUPPORT', 'MODERATOR', 'ADMIN')),
  account_id  uuid        unique,  -- their own account in the app: nobody decides about themselves
  disabled_at timestamptz,
  created_at  timestamptz not null default now()
);

-- A link with which an operator adds a passkey, once.
create table staff_invitations (
  digest     bytea       primary key,
  staff_id   uuid        not null references staff on delete cascade,
  expires_at timestamptz not null
);

create table passkeys (
  id           text        primary key,  -- of the credential, in base64url
  staff_id     uuid        not null references staff on delete cascade,
  public_key   bytea       not null,
  counter      bigint      not null,
  transports   text[]      not null,
  created_at   timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_of_staff on passkeys (staff_id);

create table passkey_challenges (
  challenge  text        primary key,
  purpose    text        not null check (purpose in ('ENROLL', 'SIGN_IN', 'PROVE')),
  staff_id   uuid        references staff on delete cascade,  -- null for a sign-in: the passkey tells who it is
  expires_at timestamptz not null
);
create index passkey_challenges_to_delete on passkey_challenges (expires_at);

create table staff_sessions (
  id           uuid        primary key default uuidv7(),
  digest       bytea       not null unique,
  staff_id     uuid        not null references staff on delete cascade,
  created_at   timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  proved_at    timestamptz not null default now(),
  ended_at     timestamptz
);
create index staff_sessions_of_staff on staff_sessions (staff_id);

-- Which people an operator has looked at, by hour.
create table staff_reads (
  staff_id uuid        not null,
  hour     timestamptz not null,
  people   uuid[]      not null,
  primary key (staff_id, hour)
);
