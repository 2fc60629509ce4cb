create table accounts (
  id                 uuid        primary key default uuidv7(),
  email              text        not null unique check (email = lower(email)),
  name               text        not null,
  image              text,
  locale             text        not null,
  role               text        not null default 'USER' check (role in ('USER', 'ADMIN')),
  password_hash      text,
  email_verified_at  timestamptz,
  registered_network text        not null,  -- an IPv4 /24 or IPv6 /48: who verifies from elsewhere may not be who registered
  referral_code      text        not null unique,
  barred_at          timestamptz,
  person_changed_at  timestamptz,            -- when the profile service said what name, image and locale are copied from
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now()
);

create table provider_links (
  provider   text        not null check (provider in ('PROVIDER_A', 'PROVIDER_B')),
  subject    text        not null,
  account_id uuid        not null references accounts on delete cascade,
  created_at timestamptz not null default now(),
  primary key (provider, subject)
);
create index provider_links_of_account on provider_links (account_id);

create table referrals (
  account_id  uuid        primary key references accounts on delete cascade,
  referrer_id uuid        not null references accounts on delete cascade,
  created_at  timestamptz not null default now()
);
create index referrals_by_referrer on referrals (referrer_id);

create table subscriptions (
  id                   uuid        primary key default uuidv7(),
  account_id           uuid        not null unique references accounts on delete cascade,
  plan_id              text        not null,
  status               text        not null check (status in ('ACTIVE', 'CANCELED', 'EXPIRED')),
  current_period_start timestamptz not null,
  current_period_end   timestamptz not null
);
create index subscriptions_running_out on subscriptions (current_period_end) where status = 'ACTIVE';

-- Wrong passwords since the last right one, for known and unknown addresses alike, so that neither takes longer.
create table wrong_passwords (
  email_digest bytea       primary key,
  times        integer     not null,
  wait_until   timestamptz not null
);
create index wrong_passwords_oldest_first on wrong_passwords (wait_until);
