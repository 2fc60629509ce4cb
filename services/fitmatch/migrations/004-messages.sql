-- Messages are written under their match's lock, so within a match every created_at is distinct and messages commit in that order.
-- Clients can therefore page and poll by created_at.
create table messages (
  id         uuid           primary key default uuidv7(),
  match_id   uuid           not null references matches on delete cascade,
  sender_id  uuid           not null,
  content    text,
  image_url  text,
  client_id  text,          -- the client's own id for the message, which makes a retry safe
  created_at timestamptz(3) not null,
  read_at    timestamptz,
  check (content is not null or image_url is not null)
);
create unique index messages_in_order on messages (match_id, created_at);
create unique index messages_by_client_id on messages (match_id, sender_id, client_id) where client_id is not null;
create index messages_unread on messages (match_id, sender_id) where read_at is null;

-- One fixed window of a minute for each sender. It starts with the first message.
create table message_quota (
  account_id        uuid        primary key,
  window_started_at timestamptz not null,
  used              smallint    not null
) with (fillfactor = 60);

create table typing_indicators (
  match_id   uuid        not null references matches on delete cascade,
  account_id uuid        not null,
  started_at timestamptz not null,
  primary key (match_id, account_id)
) with (fillfactor = 60);
