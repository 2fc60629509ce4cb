-- What people upload as evidence of a report stays as long as the report.
create index reports_with_evidence on reports using gin (evidence) where evidence <> '{}';
