create table mails (
  id             uuid        primary key,
  dedupe_key     text        not null unique,  -- names what the mail is about: one key, one mail
  recipient      text        not null,
  rate_limited   boolean     not null,         -- whether the mail counts towards the recipient's hourly and daily limits, and is held back by them
  rate_limit_key text        not null default '',  -- mails to a recipient are counted apart by key, so that one kind cannot use up the limit of another
  collapse_key   text,                         -- a newer mail with the same key supersedes the earlier ones
  superseded     boolean     not null default false,
  status         text        not null default 'pending' check (status in ('pending', 'sending', 'sent', 'failed')),
  subject        text,                         -- subject and bodies hold codes and links, so they are blanked once the mail is sent or failed
  body_text      text,
  body_html      text,
  attempts       integer     not null default 0,
  claimed_until  timestamptz,                  -- while sending: the end of the worker's lease, after which another worker may claim the mail
  last_error     text,
  created_at     timestamptz not null default now(),
  sent_at        timestamptz,
  check ((status in ('pending', 'sending')) = (subject is not null and body_text is not null and body_html is not null)),
  check ((status = 'sending') = (claimed_until is not null)),
  check ((status = 'sent') = (sent_at is not null))
);
create index mails_unsent on mails (id) where status in ('pending', 'sending');
create index mails_by_recipient on mails (lower(recipient), created_at) where rate_limited;
create index mails_unsent_by_collapse_key on mails (collapse_key) where status in ('pending', 'sending');
create index mails_oldest_first on mails (created_at);
