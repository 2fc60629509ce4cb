-- More kinds of logs. The new check allows all that the old one did.
-- Safe: logs.logs_type_check, which forbade only what a previous version never writes
alter table logs drop constraint logs_type_check;

-- Where a log comes from, when it ends, and what is counted of it together with others.
alter table logs add column source jsonb;          -- {platform, kind, device, app}; null: typed by hand
alter table logs add column external_id text;      -- its id in the source
alter table logs add column sent_client_id text;   -- `client_id` is the source and the id in it; this is what the client called it
alter table logs add column ends_at timestamptz;   -- of what lasts; null: `at` plus the length in `data`
alter table logs add column is_split boolean not null default false;  -- never merged with others
alter table logs add column parts uuid[];          -- of a session: the logs that it consists of, itself included
alter table logs add column session_data jsonb;    -- of a session: its figures, from the best of its parts
alter table logs add column import_id uuid;        -- the import that created it
alter table logs add column revision bigint not null default 0;  -- of `totals` when it last changed
create index logs_in_order_of_change on logs (account_id, revision, id);
create index logs_of_import on logs (import_id) where import_id is not null;

-- Counts the changes of an account's logs: a device asks for what changed after the last revision that it knows.
alter table totals add column revision bigint not null default 0;

-- Tombstones: a version of a log that is not later than its deletion does not bring it back.
alter table deleted_logs add column modified_at timestamptz;  -- when it was deleted at the source; null: never comes back
alter table deleted_logs add column is_undone boolean not null default false;  -- an import was undone; it can come back
alter table deleted_logs add column log_id uuid;
alter table deleted_logs add column type text;
alter table deleted_logs add column revision bigint not null default 0;
create index deleted_logs_in_order_of_change on deleted_logs (account_id, revision, log_id);
drop index deleted_logs_oldest_first;

-- Sleeps without a quality are possible: these are the entries that have one. Null in rows of earlier versions: all.
alter table daily_summaries add column sleep_ratings integer;

-- What devices measured on a day, each minute by the best source only.
create table daily_measurements (
  account_id         uuid             not null,
  day                date             not null,
  steps              integer,
  distance_meters    double precision,
  active_energy      double precision,  -- kilocalories
  heart_rate_min     double precision,
  heart_rate_max     double precision,
  heart_rate_avg     double precision,
  resting_heart_rate double precision,
  primary key (account_id, day)
);

-- Only the exercises of what counts have lifts.
delete from lifts using logs where logs.id = log_id and not counts;

-- The heart rates that are summed up after 90 days.
create index heart_rates_oldest_first on logs (at) where type = 'HEART_RATE' and data ?| array['bpm', 'samples'];
