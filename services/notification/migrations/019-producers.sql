-- Systems of the company that send events, such as a booking system. They are not accounts.
create table producers (
  id                uuid        primary key default uuidv7(),
  name              text        not null,
  event_types       text[]      not null,
  events_per_second integer     not null,
  dropped_count     bigint      not null default 0,  -- events for accounts that do not exist
  created_at        timestamptz not null default now(),
  revoked_at        timestamptz
);
create unique index producers_by_name on producers (name) where revoked_at is null;

create table producer_keys (
  digest       bytea       primary key,  -- SHA-256 of the key, which is shown once
  producer_id  uuid        not null references producers on delete cascade,
  hint         text        not null,     -- the last characters of the key
  created_at   timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at   timestamptz
);
create index producer_keys_newest_first on producer_keys (producer_id, created_at desc);

-- How much of its rate a producer has left. Nothing waits for its write: a crash empties the table, which gives a second of the rate.
create unlogged table producer_rates (
  producer_id uuid             primary key,
  left_over   double precision not null,
  counted_at  timestamptz      not null
);

-- The ids of the events of 7 days: a repeat changes nothing.
create table producer_event_ids (
  producer_id uuid        not null,
  event_id    text        not null,
  received_at timestamptz not null default now(),
  primary key (producer_id, event_id)
);
create index producer_event_ids_oldest_first on producer_event_ids (received_at);

-- Accepted events that are not handled yet, one row for each account.
create table producer_events (
  id            uuid        primary key default uuidv7(),
  producer_id   uuid        not null,
  event_id      text        not null,
  type          text        not null,
  account_id    uuid,                                -- null until account_token is looked up
  account_token uuid,
  is_known      boolean     not null default false,  -- whether the account is looked up
  data          jsonb       not null,
  occurred_at   timestamptz not null,
  due_at        timestamptz not null,
  attempts      integer     not null default 0
);
create index producer_events_due on producer_events (due_at) where is_known;
create index producer_events_to_look_up on producer_events (id) where not is_known;
create index producer_events_of_account on producer_events (account_id);

-- Bookings at producers, until 30 days after they are over. A cancelled one stays cancelled, whatever arrives later.
create table bookings (
  producer_id   uuid        not null,
  booking_id    text        not null,  -- the producer's
  account_id    uuid        not null,
  id            uuid        not null default uuidv7(),
  title         text,                  -- null if it was cancelled before it was confirmed
  starts_at     timestamptz,
  ends_at       timestamptz,
  location_name text,
  is_cancelled  boolean     not null default false,
  version       integer     not null default 1,
  occurred_at   timestamptz not null,  -- of the latest event
  changed_at    timestamptz not null default now(),
  primary key (producer_id, booking_id, account_id)
);
create index bookings_of_account on bookings (account_id);
create index bookings_oldest_first on bookings ((coalesce(ends_at, changed_at)));
