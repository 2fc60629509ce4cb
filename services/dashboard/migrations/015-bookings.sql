-- A copy of the bookings that other systems have sent, for the home screen. A cancelled one stays until it would be over.
create table bookings (
  id            uuid        primary key,
  account_id    uuid        not null,
  booking_id    text        not null,  -- its name at the system that sent it
  title         text        not null,
  starts_at     timestamptz not null,
  ends_at       timestamptz not null,
  location_name text,
  is_cancelled  boolean     not null,
  version       integer     not null
);
create index bookings_next_first on bookings (account_id, starts_at) where not is_cancelled;
create index bookings_oldest_first on bookings (ends_at);
