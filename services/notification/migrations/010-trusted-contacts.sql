-- The person who is mailed about first meetings of an account's owner. They need no account themselves.
create table trusted_contacts (
  account_id uuid        primary key,
  id         uuid        not null unique default uuidv7(),  -- a new one for each address
  name       text        not null,
  email      text        not null,
  locale     text        not null,
  status     text        not null default 'PENDING' check (status in ('PENDING', 'CONFIRMED', 'DECLINED')),
  created_at timestamptz not null default now(),
  decided_at timestamptz
);

-- The links that were mailed to a contact. Each mail has its own, so that no token is stored.
create table trusted_contact_links (
  token_digest bytea primary key,
  contact_id   uuid  not null references trusted_contacts (id) on delete cascade
);
create index trusted_contact_links_of_contact on trusted_contact_links (contact_id);

-- Addresses that refused an account. It cannot ask them again.
create table trusted_contact_refusals (
  account_id     uuid        not null,
  address_digest bytea       not null,
  refused_at     timestamptz not null default now(),
  primary key (account_id, address_digest)
);

create table trusted_contact_quota (
  account_id uuid     not null,
  day        date     not null,  -- in the account's own time zone
  used       smallint not null,
  primary key (account_id, day)
);

-- When an address was asked in the last 30 days, by any account.
create table trusted_contact_requests (
  address_digest bytea         primary key,
  requested_at   timestamptz[] not null,
  last_at        timestamptz   not null
);
create index trusted_contact_requests_by_age on trusted_contact_requests (last_at);
