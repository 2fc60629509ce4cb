-- A mail is not sent after its code or link has expired.
alter table mails add column expires_at timestamptz not null default now() + interval '1 day';
