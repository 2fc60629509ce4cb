-- Events of this service, written in the transaction of the change they report. The relay publishes them.
create table outbox (
  id                uuid        primary key default uuidv7(),
  seq               bigint      not null generated always as identity,
  type              text        not null,
  subject           text        not null,  -- events of one subject are published in order
  data              jsonb       not null,
  traceparent       text,
  -- Not now(), the start of the transaction: one that waited for a lock would seem older than the one it waited for.
  occurred_at       timestamptz not null default clock_timestamp(),
  published_at      timestamptz,
  rejected_reason   text,                  -- why the broker will never accept it; set it to null to try again
  -- Where the broker stores it: the stream's creation time and the sequence in it. They show when a broker has lost data.
  stream_created_at timestamptz,
  stream_seq        bigint
);
create index outbox_waiting on outbox (seq) where published_at is null and rejected_reason is null;
create index outbox_by_stream_position on outbox (stream_created_at, stream_seq) where stream_seq is not null;

-- Events whose consumers cannot repeat their work. The id is claimed in the transaction of that work.
create table processed_events (
  event_id uuid not null,
  consumer text not null,
  primary key (event_id, consumer)
);

-- Messages that a handler failed on. They are retried at next_attempt_at; a parked one only when an operator replays it.
create table failed_messages (
  key              text        primary key,
  stream           text        not null,
  type             text        not null,
  message          text        not null,
  traceparent      text,
  attempts         integer     not null,
  error            text        not null,
  first_failed_at  timestamptz not null default now(),
  next_attempt_at  timestamptz,
  parked_at        timestamptz
);
create index failed_messages_due on failed_messages (next_attempt_at) where next_attempt_at is not null;
