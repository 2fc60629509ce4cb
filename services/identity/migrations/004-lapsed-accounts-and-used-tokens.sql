alter table accounts add column lapsed_at timestamptz;  -- when an address that nobody verified was given back
create index accounts_unverified_oldest_first on accounts (created_at) where email_verified_at is null and lapsed_at is null;

-- Tokens of outside providers that have signed somebody in, for as long as they would be taken again.
create table used_provider_tokens (
  digest  bytea       primary key,
  used_at timestamptz not null default now()
);
create index used_provider_tokens_oldest_first on used_provider_tokens (used_at);
