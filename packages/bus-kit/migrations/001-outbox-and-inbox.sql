-- What this service has said and will say, written in the transaction of the change it reports.
create table outbox (
  id           uuid        primary key default uuidv7(),
  seq          bigint      not null generated always as identity,
  type         text        not null,
  aggregate    text        not null,  -- events of one aggregate are published in their order
  data         jsonb       not null,
  traceparent  text,
  occurred_at  timestamptz not null default now(),
  published_at timestamptz,
  stream_seq   bigint                 -- where the broker keeps it, to notice a broker that lost what it had
);
create index outbox_unpublished on outbox (seq) where published_at is null;
create index outbox_by_place_in_stream on outbox (stream_seq) where stream_seq is not null;

-- Events whose work adds up and is done: their ids are spent in the transaction of that work.
create table inbox (
  event_id uuid not null,
  consumer text not null,
  primary key (event_id, consumer)
);

-- Messages that could not be handled: still being tried while parked_at is null, waiting for a person after that.
create table dead_letters (
  key              text        primary key,
  stream           text        not null,
  type             text        not null,
  message          text        not null,
  attempts         integer     not null default 1,
  error            text        not null,
  first_failed_at  timestamptz not null default now(),
  parked_at        timestamptz,
  replay_asked_at  timestamptz
);
create index dead_letters_to_replay on dead_letters (replay_asked_at) where replay_asked_at is not null;
