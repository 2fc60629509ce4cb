-- The network that a code was requested from. It has attempts of its own.
alter table codes add column network text;

-- Codes that callers who are not signed in entered wrongly, for a day. They replace code_attempts, in which the previous
-- version still counts.
create table wrong_codes (
  id          uuid        primary key default uuidv7(),
  account_id  uuid        not null references accounts on delete cascade,
  code_digest bytea       not null,
  network     text        not null,  -- empty for all networks that have no attempts of their own
  is_known    boolean     not null,
  entered_at  timestamptz not null default now()
);
create index wrong_codes_of_account on wrong_codes (account_id, entered_at);
create index wrong_codes_oldest_first on wrong_codes (entered_at);

-- The links in mails with a code. A newer mail replaces the code; links stay valid until they expire, or until a code or
-- link of the same purpose is used.
create table code_links (
  digest     bytea       primary key,
  account_id uuid        not null references accounts on delete cascade,
  purpose    text        not null,
  expires_at timestamptz not null,
  foreign key (account_id, purpose) references codes on delete cascade
);
create index code_links_of_code on code_links (account_id, purpose);
create index code_links_oldest_first on code_links (expires_at);
