-- An account is banned from its first ban on that still holds: a reversal asks which others were made since.
update accounts set banned_at = began
from (
  select account_id, min(made_at) as began from decisions ban
  where actions @> '[{"type": "BAN"}]' and not exists (
    select from decisions lift where lift.account_id = ban.account_id and (lift.reverses = ban.id
      or (lift.reverses is null and lift.id > ban.id and lift.actions @> '[{"type": "LIFT", "scope": "ALL"}]')))
  group by account_id) bans
where bans.account_id = accounts.id and began < banned_at;
