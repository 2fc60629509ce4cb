-- Decisions about accounts. A row never changes; what came of it is in the other tables.
create table decisions (
  id           uuid        primary key default uuidv7(),
  account_id   uuid        not null,
  case_service text        check (case_service in ('social', 'fitmatch')),
  case_id      uuid,
  case_version integer,                -- null for a decision that is not the one about a case, such as a reversal
  subject_type text,
  excerpt      text,                   -- the start of what was decided about
  actions      jsonb       not null,
  outcome      text        not null check (outcome in ('ACTION_TAKEN', 'NO_VIOLATION')),
  reason       text        not null,
  statement    text        not null,   -- to the person
  note         text,                   -- for operators
  is_automated boolean     not null,
  staff_id     uuid,
  reverses     uuid        unique references decisions on delete cascade,
  made_at      timestamptz not null default now()
);
-- Of many decisions about one version of a case, one is made.
create unique index decisions_one_per_case_version on decisions (case_service, case_id, case_version)
  where case_version is not null;
create index decisions_of_account_newest_first on decisions (account_id, id desc);

create function refuse_decision_change () returns trigger
language plpgsql as $$
begin
  raise exception 'a decision cannot be changed';
end $$;
create trigger refuse_decision_change before update on decisions for each row execute function refuse_decision_change();

-- What an account must not do for a while.
create table restrictions (
  id          uuid        primary key default uuidv7(),
  account_id  uuid        not null,
  scope       text        not null check (scope in ('POSTING', 'FITMATCH', 'ALL')),
  until       timestamptz,             -- null: until it is lifted
  decision_id uuid        not null references decisions on delete cascade,
  lifted_at   timestamptz
);
create index restrictions_of_account on restrictions (account_id) where lifted_at is null;

create table strikes (
  decision_id uuid        primary key references decisions on delete cascade,
  account_id  uuid        not null,
  created_at  timestamptz not null default now(),
  removed_at  timestamptz
);
create index strikes_of_account on strikes (account_id) where removed_at is null;

-- Which services have carried out a decision.
create table decision_applications (
  decision_id uuid        not null references decisions on delete cascade,
  service     text        not null,
  applied_at  timestamptz not null default now(),
  primary key (decision_id, service)
);

create table appeals (
  id          uuid        primary key default uuidv7(),
  decision_id uuid        not null unique references decisions on delete cascade,
  account_id  uuid        not null,
  text        text        not null,
  status      text        not null default 'OPEN' check (status in ('OPEN', 'UPHELD', 'REVERSED')),
  answer      text,
  staff_id    uuid,
  due_at      timestamptz not null default now() + interval '48 hours',
  created_at  timestamptz not null default now(),
  decided_at  timestamptz
);
create index appeals_to_decide on appeals (due_at) where status = 'OPEN';
create index appeals_of_account on appeals (account_id);

-- Until when the whole account is restricted; the person is hidden meanwhile.
alter table accounts add column restricted_until timestamptz;
create index accounts_restricted on accounts (restricted_until) where restricted_until is not null;
