-- Labels that operators wrote, by locale. Where there is none, the label is the text of the brand. label_en and label_id
-- stay for the version before this one.
alter table options add column labels jsonb not null default '{}';
alter table options alter column label_en drop not null;
alter table options alter column label_id drop not null;

update options set labels = jsonb_build_object('en', label_en, 'id', label_id)
where exists (
  select from option_changes
  where option_changes.type = options.type and option_changes.option_id = options.option_id
);

-- False for an option that the brand's list no longer has.
alter table options add column is_listed boolean not null default true;
