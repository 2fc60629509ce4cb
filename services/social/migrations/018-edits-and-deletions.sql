-- When the text of a post was last changed.
alter table posts add column edited_at timestamptz;

-- A deleted comment with replies stays as an empty place without an author: the replies belong to others.
alter table comments add column deleted_at timestamptz;
alter table comments alter column author_id drop not null;
