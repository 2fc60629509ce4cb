alter table accounts add column suspended boolean not null default false;  -- a copy of what fitmatch decided
alter table accounts add column suspension_changed_at timestamptz;

-- Safe: remembered.remembered_restriction_check, the previous version leaves the new column at its default.
-- What a new account with a matching digest meets again: a ban, or a suspension that is not lifted.
alter table remembered add column restriction text not null default 'BANNED' check (restriction in ('BANNED', 'SUSPENDED'));
