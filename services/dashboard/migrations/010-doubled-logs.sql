-- A watch and a phone log the same workout, or the same sleep: only one of them counts (logs/doubles.ts).
alter table logs add column counts boolean not null default true;
