-- Who else wrote or planned what the evidence shows, besides the reported person. Once one of them is erased, that goes.
alter table case_evidence add column others uuid[] not null default '{}';
create index case_evidence_of_others on case_evidence using gin (others);
