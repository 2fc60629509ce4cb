-- For the erasure of the account. The other index leaves out those that are cancelled.
create index bookings_of_account on bookings (account_id);
