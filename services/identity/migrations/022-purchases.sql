-- What an app gives to a store instead of an account's id, so that the store does not learn it. Null once the account is erased.
alter table accounts add column account_token uuid default gen_random_uuid();
create index accounts_by_token on accounts (account_token);
-- Whether purchases in the stores' sandboxes count for this account, as those of people who review the app for a store.
alter table accounts add column uses_sandbox boolean not null default false;

-- What a store sold: one row for each subscription there. The row of subscriptions is derived from these and from grants.
create table purchases (
  id               uuid        primary key default uuidv7(),
  store            text        not null check (store in ('APPLE', 'GOOGLE', 'REVENUECAT')),
  environment      text        not null check (environment in ('PRODUCTION', 'SANDBOX')),
  -- Apple: the original transaction id. Google: the SHA-256 of the purchase token. RevenueCat: the account token.
  store_key        text        not null,
  encrypted_token  bytea,                -- Google's purchase token, with which the store is asked
  account_id       uuid        references accounts on delete set null,
  plan_id          text        not null,
  product_id       text        not null,
  state            text        not null check (state in ('PENDING', 'ACTIVE', 'GRACE', 'HOLD', 'PAUSED', 'EXPIRED', 'REVOKED')),
  will_renew       boolean     not null,
  is_trial         boolean     not null,
  is_family_shared boolean     not null,
  period_start     timestamptz not null,
  period_end       timestamptz not null,  -- until when it is paid
  grace_end        timestamptz,           -- until when the store gives time to pay
  revoked_at       timestamptz,
  voided_order     bytea,                -- the digest of the order that Google says it refunded
  order_digest     bytea,                 -- keyed, of the order id that people find in the store's mails
  manage_url       text,
  replaces         text[]      not null default '{}',  -- the keys of the purchases that it upgraded
  is_replaced      boolean     not null default false,
  known_at         timestamptz not null,  -- how old the newest knowledge is
  moved_at         timestamptz[] not null default '{}',
  -- When the store is asked next; null if nothing can change any more.
  check_at         timestamptz,
  checked_at       timestamptz,           -- when the store answered last
  attempts         smallint    not null default 0,
  needs_acknowledgement boolean not null,  -- Google refunds what nobody acknowledges
  bought_at        timestamptz not null default now(),
  unique (store, environment, store_key)
);
create index purchases_by_account on purchases (account_id);
create index purchases_next_to_check on purchases (check_at);
create index purchases_by_order on purchases (order_digest) where order_digest is not null;
create index purchases_by_replaced_key on purchases using gin (replaces);
create index purchases_to_acknowledge on purchases (bought_at) where needs_acknowledgement;

-- The notifications of the stores, so that each is handled once. Kept for 90 days.
create table store_notifications (
  id                uuid        primary key default uuidv7(),
  store             text        not null check (store in ('APPLE', 'GOOGLE', 'REVENUECAT')),
  notification_id   text        not null,
  encrypted_content bytea,                -- what Apple signed, or what the store is asked about, until it is handled
  voided_order      bytea,                -- the digest of the order that Google says it refunded
  received_at       timestamptz not null default now(),
  claimed_until     timestamptz not null default now(),
  done_at           timestamptz,
  unique (store, notification_id)
);
create index store_notifications_pending on store_notifications (id) where done_at is null;
create index store_notifications_oldest_first on store_notifications (received_at);

-- What somebody gave without a store: an operator, or the app as a reward.
create table grants (
  id         uuid        primary key default uuidv7(),
  account_id uuid        not null references accounts on delete cascade,
  plan_id    text        not null,
  reason     text        not null check (reason in ('OPERATOR', 'REFERRAL', 'GIFT')),
  given_by   text,                        -- an operator or an account; null for the shell
  starts_at  timestamptz not null,
  ends_at    timestamptz not null,
  ended_at   timestamptz,                 -- when an operator took it back
  created_at timestamptz not null default now()
);
create index grants_by_account on grants (account_id);

alter table subscriptions add column entitlements text[] not null default '{unlimited_swipes,see_likes}';
-- What it is derived from.
alter table subscriptions add column purchase_id uuid;
alter table subscriptions add column grant_id uuid;

insert into grants (account_id, plan_id, reason, starts_at, ends_at)
  select account_id, plan_id, 'OPERATOR', current_period_start, current_period_end from subscriptions
  where status = 'ACTIVE' and current_period_end > now();
update subscriptions set grant_id = grants.id from grants where grants.account_id = subscriptions.account_id;

alter table erasures add column manage_url text;
