-- A referral is decided when the new account verifies its address: it counts, or it does not.
alter table referrals add column decided_at timestamptz;
alter table referrals add column is_counted boolean not null default false;
create index referrals_undecided on referrals (account_id) where decided_at is null;

-- A digest of the id of an installation, if the app sends one: two accounts on one phone are one person.
alter table sessions add column device_digest bytea;

-- What accounts have got for referrals. It stays when the other account is erased: it is what limits them.
create table referral_rewards (
  id          uuid        primary key default uuidv7(),
  account_id  uuid        not null references accounts on delete cascade,
  is_referrer boolean     not null,
  days        integer     not null check (days >= 0),
  granted_at  timestamptz not null default now()
);
create index referral_rewards_of_account on referral_rewards (account_id, granted_at);
