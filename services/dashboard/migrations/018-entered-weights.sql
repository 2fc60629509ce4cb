-- The copy is of the weight that a person entered in the profile: a logged one counts only while its log exists. It has
-- no weight if they entered none.
alter table profile_weights alter column kg drop not null;
alter table profile_weights alter column weighed_at drop not null;
-- When profile made the change, as in the copies of people; null: before this column.
alter table profile_weights add column changed_at timestamptz;
