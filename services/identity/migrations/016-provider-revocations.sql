-- Tokens with which the connection of a leaving person is ended at a provider, once the erasure begins.
create table provider_revocations (
  erasure_id      uuid        primary key references erasures on delete cascade,
  provider        text        not null check (provider in ('PROVIDER_A', 'PROVIDER_B')),
  token           bytea       not null,  -- encrypted
  attempts        smallint    not null default 0,
  next_attempt_at timestamptz not null default now()
);
create index provider_revocations_due on provider_revocations (next_attempt_at);
