-- A person without a matching profile can be blocked too.
alter table blocks alter column profile_id drop not null;

-- Safe: reports.reports_case_id_fkey, the previous version leaves the new column null.
alter table reports add column case_id uuid references cases on delete set null;
-- The files of evidence are copied: see case_files.
alter table reports alter column retained_urls set default '{}';
create index reports_of_case on reports (case_id);

insert into cases (target_type, target_id, account_id, priority, due_at, reports_count, evidence_digest, is_restricted)
select 'PROFILE', reported_id, reported_id, case when bool_or(is_urgent) then 3 else 2 end,
  now() + case when bool_or(is_urgent) then interval '24 hours' else interval '48 hours' end, count(*), '', false
from reports where status = 'OPEN' group by reported_id;
update reports set case_id = cases.id from cases
where status = 'OPEN' and cases.target_type = 'PROFILE' and cases.target_id = reports.reported_id;
