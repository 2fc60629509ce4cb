-- Usernames of erased accounts. For 90 days nobody else can take one, so that no stranger inherits its mentions.
create table reserved_usernames (
  username text        primary key,  -- in lower case
  until    timestamptz not null
);
