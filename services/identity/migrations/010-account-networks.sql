-- The networks (IPv4 /24, IPv6 /48) that an account was signed in to from. Wrong passwords and requests for mails that come from elsewhere
-- are counted apart from theirs, so that nobody elsewhere keeps the owner out.
create table account_networks (
  account_id   uuid        not null references accounts on delete cascade,
  network      text        not null,
  signed_in_at timestamptz not null default now(),
  primary key (account_id, network)
);
create index account_networks_oldest_first on account_networks (signed_in_at);
