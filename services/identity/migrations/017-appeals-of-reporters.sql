-- Who reported something can appeal that it was dismissed: once for each report.
alter table appeals add column report_id uuid;
-- Safe: appeals.appeals_decision_id_key, the index below keeps it for the appeals that the previous version writes
alter table appeals drop constraint appeals_decision_id_key;
create unique index appeals_one_per_decision on appeals (decision_id) where report_id is null;
create unique index appeals_one_per_report on appeals (report_id);
create index appeals_of_decision on appeals (decision_id);
