-- Who lost their place in which activity, and when: what happened earlier creates no notification for them.
create table ended_participations (
  activity_id uuid        not null,
  account_id  uuid        not null,
  ended_at    timestamptz not null,
  primary key (activity_id, account_id)
);
create index ended_participations_of_account on ended_participations (account_id);
create index ended_participations_by_end on ended_participations (ended_at);

-- When the event happened; null for older rows and for notifications that never follow from an activity.
alter table notifications add column occurred_at timestamptz;
create index notifications_by_activity on notifications (subject_id)
  where type in ('SPORT_BUDDY', 'BOOKING') and subject_id is not null and removed_at is null;
