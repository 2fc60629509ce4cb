-- An image of the same account, uploaded before.
alter table media_uploads add column poster_key text;
