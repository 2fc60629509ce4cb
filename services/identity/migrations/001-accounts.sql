create table accounts (
  id                 uuid        primary key default uuidv7(),
  email              text        not null unique check (email = lower(email)),
  name               text        not null,
  image              text,
  locale             text        not null,
  role               text        not null default 'USER' check (role in ('USER', 'ADMIN')),
  password_hash      text,
  email_verified_at  timestamptz,
  registered_network text        not null,  -- IPv4 /24 or IPv6 /48; a verification from another network may not come from the registrant
  referral_code      text        not null unique,
  banned_at          timestamptz,
  expired_at         timestamptz,           -- when the address was released because nobody had verified it
  person_changed_at  timestamptz,           -- version of the copied name, image and locale, as the profile service published it
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now()
);
create index accounts_unverified_oldest_first on accounts (created_at) where email_verified_at is null and expired_at is null;

-- The networks (IPv4 /24, IPv6 /48) that an account has signed in from. Wrong passwords and mail requests from other networks are
-- counted separately, so that nobody elsewhere can lock the owner out.
create table account_networks (
  account_id        uuid        not null references accounts on delete cascade,
  network           text        not null,
  last_signed_in_at timestamptz not null default now(),
  primary key (account_id, network)
);
create index account_networks_oldest_first on account_networks (last_signed_in_at);

create table provider_links (
  provider   text        not null check (provider in ('PROVIDER_A', 'PROVIDER_B')),
  subject    text        not null,
  account_id uuid        not null references accounts on delete cascade,
  created_at timestamptz not null default now(),
  primary key (provider, subject)
);
create index provider_links_by_account on provider_links (account_id);

-- Single-use provider tokens that have signed somebody in, kept for as long as they would still be accepted.
create table used_provider_tokens (
  digest  bytea       primary key,
  used_at timestamptz not null default now()
);
create index used_provider_tokens_oldest_first on used_provider_tokens (used_at);

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
create index subscriptions_next_to_expire on subscriptions (current_period_end) where status = 'ACTIVE';
