-- What the owner has to end elsewhere, as it was when the deletion was requested. The receipt says it after the erasure.
alter table erasures add column providers text[] not null default '{}';
alter table erasures add column has_subscription boolean not null default false;

-- Links to delete an account without signing in. A new link replaces the old one.
create table deletion_links (
  account_id uuid        primary key references accounts on delete cascade,
  digest     bytea       not null unique,
  expires_at timestamptz not null
);
create index deletion_links_oldest_first on deletion_links (expires_at);

-- Safe: mail_requests.mail_requests_kind_check, which only allows more than before
alter table mail_requests drop constraint mail_requests_kind_check,
  add constraint mail_requests_kind_check check (kind in ('VERIFY', 'SIGN_IN', 'RESET', 'DELETION'));

create index erasures_to_remind on erasures (erase_at) where status = 'SCHEDULED' and reminded_at is null;
