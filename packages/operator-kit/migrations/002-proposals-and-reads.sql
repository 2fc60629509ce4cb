-- What one operator proposes, and another one has to confirm within 72 hours.
create table proposals (
  id          uuid        primary key default uuidv7(),
  kind        text        not null,  -- such as BAN
  subject     text        not null,  -- what it is about, such as an account or a case
  account_id  uuid,
  reason      text        not null,
  payload     jsonb       not null,  -- what happens once it is confirmed
  proposed_by uuid        not null,
  status      text        not null default 'OPEN' check (status in ('OPEN', 'CONFIRMED', 'WITHDRAWN', 'EXPIRED')),
  decided_by  uuid,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz not null default now() + interval '72 hours',
  decided_at  timestamptz
);
create unique index proposals_one_open_per_subject on proposals (kind, subject) where status = 'OPEN';
create index proposals_of_account on proposals (account_id) where account_id is not null;

-- Which people an operator has looked at, by hour.
create table operator_reads (
  staff_id uuid        not null,
  hour     timestamptz not null,
  people   uuid[]      not null,
  primary key (staff_id, hour)
);
