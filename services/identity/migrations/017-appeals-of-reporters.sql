-- Who reported something can appeal that it was dismissed: once for each report.
alter table appeals add column report_id uuid;
-- The two indexes replace the constraint on decision_id for the appeals that the previous version writes.
-- Safe: appeals.appeals_decision_id_key, as said above
-- Safe: appeals.appeals_one_per_decision, as said above
-- Safe: appeals.appeals_one_per_report, the previous version leaves the new column null
alter table appeals drop constraint appeals_decision_id_key;
create unique index appeals_one_per_decision on appeals (decision_id) where report_id is null;
create unique index appeals_one_per_report on appeals (report_id);
create index appeals_of_decision on appeals (decision_id);
