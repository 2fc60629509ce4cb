-- What this service has said and will say, written in the transaction of the change it reports.
create table outbox (
  id             uuid        primary key default uuidv7(),
  seq            bigint      not null generated always as identity,
  type           text        not null,
  subject      text        not null,  -- events of one subject are published in their order
  data           jsonb       not null,
  traceparent    text,
  -- Not now(), which is when the transaction began: one that waited for a lock would seem older than the one it waited for.
  occurred_at    timestamptz not null default clock_timestamp(),
  published_at   timestamptz,
  refused        text,                  -- why the broker will never take it; set to null, it is tried again
  stream_made_at timestamptz,           -- where the broker keeps it: in the stream that was made then,
  stream_seq     bigint                 -- at this place. So a broker that lost what it had is noticed
);
create index outbox_waiting on outbox (seq) where published_at is null and refused is null;
create index outbox_by_place_in_stream on outbox (stream_made_at, stream_seq) where stream_seq is not null;

-- Events whose work adds up and is done: their ids are spent in the transaction of that work.
create table processed_events (
  event_id uuid not null,
  consumer text not null,
  primary key (event_id, consumer)
);

-- Messages that could not be handled: tried again at attempt_at; once parked, only when a person asks.
create table failed_messages (
  key              text        primary key,
  stream           text        not null,
  type             text        not null,
  message          text        not null,
  traceparent      text,
  attempts         integer     not null,
  error            text        not null,
  first_failed_at  timestamptz not null default now(),
  attempt_at       timestamptz,
  parked_at        timestamptz
);
create index failed_messages_due on failed_messages (attempt_at) where attempt_at is not null;
