-- A grant that waits begins at its time also where nothing has counted before it.
create index subscriptions_next_change on subscriptions
  (least(next_grant_at, case when status = 'ACTIVE' then current_period_end end));
drop index subscriptions_next_to_change;
