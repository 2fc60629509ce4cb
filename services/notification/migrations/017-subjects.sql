-- What a notification is about. By these names it is withdrawn, and its text rewritten: 'post:<id>', 'comment:<id>' …
alter table notifications
  add column subjects  text[]  not null default '{}',
  add column owner_id  uuid,                            -- the account whose post it is about, if there is one
  add column sequence  bigint  not null default 0,      -- of its event, which orders the events of one service
  add column withdrawn boolean not null default false;  -- what it reported is no longer so; if it is reported again, it comes back
create index notifications_by_subject on notifications using gin (subjects) where not withdrawn and cardinality(subjects) > 0;
create index notifications_by_owner on notifications (owner_id) where owner_id is not null;

-- A notification that comes back moves to the top of the inbox: it gets a new id.
-- Safe: deliveries.deliveries_notification_id_fkey, it accepts the same rows
-- Safe: post_likes.post_likes_notification_id_fkey, it accepts the same rows
alter table deliveries
  drop constraint deliveries_notification_id_fkey,
  add foreign key (notification_id) references notifications on delete cascade on update cascade;
alter table post_likes
  drop constraint post_likes_notification_id_fkey,
  add foreign key (notification_id) references notifications on delete set null on update cascade;

-- What was withdrawn, and by which event. An earlier event that arrives later creates no notification.
create table withdrawals (
  subject      text        not null,
  account_id   uuid        not null,  -- in whose inbox; the nil UUID stands for all
  actor_id     uuid        not null,  -- whose action; the nil UUID stands for everybody's
  spares_owner boolean     not null,  -- whether the owner's inbox keeps it
  sequence     bigint      not null,
  withdrawn_at timestamptz not null default now(),
  primary key (subject, account_id, actor_id, spares_owner)
);
create index withdrawals_of_account on withdrawals (account_id) where account_id <> '00000000-0000-0000-0000-000000000000';
create index withdrawals_by_actor on withdrawals (actor_id) where actor_id <> '00000000-0000-0000-0000-000000000000';
create index withdrawals_oldest_first on withdrawals (withdrawn_at);

-- The values of texts that changed: an earlier event that arrives later gets these. Excerpts are not kept, only that there is none.
create table rewritings (
  subject      text        primary key,
  params       jsonb       not null,
  sequence     bigint      not null,
  rewritten_at timestamptz not null default now()
);
create index rewritings_oldest_first on rewritings (rewritten_at);

-- They replace four tables and two indexes.
-- Safe: deleted_content, which no release has used
drop table deleted_content;
-- Safe: ended_matches, which no release has used
drop table ended_matches;
-- Safe: ended_participations, which no release has used
drop table ended_participations;
-- Safe: edited_posts, which no release has used
drop table edited_posts;
drop index notifications_by_post, notifications_by_activity;
-- Safe: notifications.subject_id, which no release has used
-- Safe: notifications.occurred_at, which no release has used
alter table notifications drop column subject_id, drop column occurred_at;

-- The unread count is the number of notifications that the inbox shows as unread. What is left is one row for each account, whose
-- lock orders all changes to its inbox and devices, with the state of its realtime log.
-- Safe: unread_counts, which no release has used
alter table unread_counts rename to inboxes;
alter table inboxes drop column unread;
