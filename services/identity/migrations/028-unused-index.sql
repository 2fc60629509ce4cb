-- Without a transaction: requests read and write accounts meanwhile. Nothing has read them by this index since 1.0.0.
drop index concurrently if exists accounts_expired_with_data;
