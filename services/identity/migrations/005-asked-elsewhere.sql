-- Whether somebody in another network than the registration's has asked for a mail to an address that is not verified yet.
alter table accounts add column asked_elsewhere boolean not null default false;
