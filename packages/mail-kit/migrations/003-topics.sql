-- Of the mails of a topic only the newest is right: those before it are not sent any more.
alter table mails add column topic text;
alter table mails add column superseded boolean not null default false;
create index mails_of_a_topic on mails (topic) where status in ('pending', 'sending');
