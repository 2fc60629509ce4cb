-- The username that the text shows, so that a mention still leads to its person after they changed their username.
alter table mentions add column username text;
