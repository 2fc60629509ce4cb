-- Which change of a subscription is known, by its place among the events of identity: two may be of one millisecond, as subscription_heard_at
-- has them. The version before this one goes on filling that.
alter table members add column subscription_sequence bigint;
