-- Endpoints of other teams. Their secrets are stored as they are: every delivery is signed with one.
create table webhook_endpoints (
  id              uuid        primary key default uuidv7(),
  url             text        not null,
  secret          text        not null,
  event_types     text[]      not null,
  created_at      timestamptz not null default now(),
  last_success_at timestamptz,
  disabled_at     timestamptz,
  disabled_reason text
);

-- What happened, once for all endpoints that ask for it.
create table webhook_messages (
  id          uuid        primary key,
  type        text        not null,
  account_id  uuid,
  data        json        not null,
  occurred_at timestamptz not null,
  created_at  timestamptz not null default now()
);
create index webhook_messages_of_account on webhook_messages (account_id);
create index webhook_messages_by_time on webhook_messages (created_at);

create table webhook_deliveries (
  id              uuid        primary key default uuidv7(),
  endpoint_id     uuid        not null references webhook_endpoints on delete cascade,
  message_id      uuid        not null references webhook_messages on delete cascade,
  status          text        not null default 'pending' check (status in ('pending', 'sent', 'failed')),
  attempts        integer     not null default 0,
  due_at          timestamptz not null default now(),
  claimed_until   timestamptz,
  queued_at       timestamptz not null default now(),  -- when it was created, or replayed
  response_status integer,
  error           text,
  finished_at     timestamptz,
  unique (message_id, endpoint_id)
);
create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, id desc);
create index webhook_deliveries_pending on webhook_deliveries (endpoint_id, id) where status = 'pending';

-- Matches of an hour that are not reported yet.
create table webhook_match_counts (
  hour  timestamptz primary key,
  count integer     not null
);
