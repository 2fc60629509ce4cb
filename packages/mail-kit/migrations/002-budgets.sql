-- Mails to a recipient are counted apart by budget, so that mails of one kind do not use up those of another.
alter table mails add column budget text not null default '';
