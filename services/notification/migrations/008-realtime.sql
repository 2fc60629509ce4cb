-- The log of realtime frames, in the order of `seq`. It holds ids only: texts are read when a frame is delivered, so what a block or an
-- unmatch hides stays hidden. Only accounts that read their log within a day have one; it is kept for a day.
create table realtime_frames (
  account_id uuid        not null,
  seq        bigint      not null,
  type       text        not null,
  frame_key  text,                  -- what the frame reports, if that is reported once, however often its event arrives
  ids        jsonb       not null,
  at         timestamptz not null,
  primary key (account_id, seq)
);
create unique index realtime_frames_once on realtime_frames (account_id, frame_key) where frame_key is not null;
create index realtime_frames_oldest_first on realtime_frames (at);

-- A position is `<epoch>-<seq>`. Numbers are taken under the lock of this row, so they are in the order of the commits.
alter table unread_counts
  add column realtime_seq           bigint not null default 0,
  add column realtime_deleted_seq   bigint not null default 0,  -- up to here frames have expired
  add column realtime_epoch         text,                       -- a new one when frames were not logged for a while, or were restored
  add column realtime_until         timestamptz,                -- frames are logged until then, unless the log is read again
  add column realtime_focus_match   uuid,                       -- the chat on a screen
  add column realtime_focus_until   timestamptz;
