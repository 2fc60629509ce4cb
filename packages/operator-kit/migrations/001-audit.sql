-- What operators did, reading included. Nobody changes it: each row holds the hash of the one before.
create table audit_entries (
  number        bigint      not null,  -- the position in the chain
  staff_id      uuid        not null,
  role          text        not null,
  action        text        not null,  -- such as `GET /operator/cases/:id`
  subject       text,                  -- what it was done to
  account_id    uuid,                  -- the account it concerns, if the request names one
  reason        text,
  request_id    text        not null,
  created_at    timestamptz not null default now(),
  previous_hash bytea       not null,
  hash          bytea       not null
) partition by range (created_at);
create index audit_entries_by_number on audit_entries (number desc);

-- The end of the chain. Its lock puts entries one after the other.
create table audit_head (
  is_only boolean primary key default true check (is_only),
  number  bigint  not null,
  hash    bytea   not null
);
insert into audit_head (number, hash) values (0, '');

create function audit_hash (previous bytea, number bigint, staff_id uuid, role text, action text, subject text,
  account_id uuid, reason text, request_id text, created_at timestamptz) returns bytea
language sql immutable as $$
  -- Microseconds, because the text of a time depends on the time zone of the connection.
  select sha256(previous || convert_to(jsonb_build_array(number, staff_id, role, action, subject, account_id, reason,
    request_id, (extract(epoch from created_at) * 1000000)::bigint)::text, 'UTF8'))
$$;

create function chain_audit_entry () returns trigger
language plpgsql as $$
declare
  head audit_head;
begin
  select * into strict head from audit_head for update;
  new.number := head.number + 1;
  new.previous_hash := head.hash;
  new.hash := audit_hash(new.previous_hash, new.number, new.staff_id, new.role, new.action, new.subject,
    new.account_id, new.reason, new.request_id, new.created_at);
  update audit_head set number = new.number, hash = new.hash;
  return new;
end $$;
create trigger chain_audit_entry before insert on audit_entries for each row execute function chain_audit_entry();

create function refuse_audit_change () returns trigger
language plpgsql as $$
begin
  raise exception 'the audit cannot be changed';
end $$;
create trigger refuse_audit_change before update or delete on audit_entries
  for each row execute function refuse_audit_change();
create trigger refuse_audit_truncate before truncate on audit_entries
  for each statement execute function refuse_audit_change();

-- Creates the partition of a month, unless it exists.
create function create_audit_partition (month date) returns void
language plpgsql as $$
declare
  name text := 'audit_entries_' || to_char(month, 'YYYY_MM');
begin
  if to_regclass(name) is not null then return; end if;
  execute format('create table %I partition of audit_entries for values from (%L) to (%L)',
    name, date_trunc('month', month)::date || ' 00:00:00+00',
    (date_trunc('month', month) + interval '1 month')::date || ' 00:00:00+00');
  -- A trigger for statements is not inherited.
  execute format('create trigger refuse_audit_truncate before truncate on %I
    for each statement execute function refuse_audit_change()', name);
end $$;

select create_audit_partition(((now() at time zone 'UTC')::date + make_interval(months => later))::date)
from generate_series(-1, 3) as later;
