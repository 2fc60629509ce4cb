-- The weight that a person entered. It counts again when the logged ones that are later have been deleted.
alter table people
  add column entered_weight  double precision,
  add column entered_at      timestamptz,
  add column weight_sequence bigint not null default 0;  -- of the last event about the logged weights
