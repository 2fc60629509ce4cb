-- Who invited the operator who proposed it: they do not confirm it.
alter table proposals add column proposer_invited_by uuid[] not null default '{}';
