create table mails (
  id            uuid        primary key,
  cause         text        not null unique,  -- what the mail is about: one cause, one mail
  recipient     text        not null,
  capped        boolean     not null,         -- whether it counts towards, and is held back by, what a recipient gets in an hour and a day
  status        text        not null default 'pending' check (status in ('pending', 'sending', 'sent', 'failed')),
  subject       text,                         -- this and the bodies hold codes and links, so they are blanked once the mail is over
  body_text     text,
  body_html     text,
  attempts      integer     not null default 0,
  claimed_until timestamptz,                  -- while sending: the worker's lease, after which another may take the mail
  last_error    text,
  created_at    timestamptz not null default now(),
  sent_at       timestamptz,
  check ((status in ('pending', 'sending')) = (subject is not null and body_text is not null and body_html is not null)),
  check ((status = 'sending') = (claimed_until is not null)),
  check ((status = 'sent') = (sent_at is not null))
);
create index mails_not_sent on mails (id) where status in ('pending', 'sending');
create index mails_of_a_recipient on mails (lower(recipient), created_at) where capped;
create index mails_oldest_first on mails (created_at);
