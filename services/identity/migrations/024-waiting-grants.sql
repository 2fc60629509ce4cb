-- When the next grant begins that waits for its turn. It may unlock more than what counts until then.
alter table subscriptions add column next_grant_at timestamptz;
create index subscriptions_next_to_change on subscriptions (least(next_grant_at, current_period_end)) where status = 'ACTIVE';

update subscriptions set next_grant_at = waiting.starts_at
from (select account_id, min(starts_at) as starts_at from grants where ended_at is null and starts_at > now() group by account_id) waiting
where waiting.account_id = subscriptions.account_id;
