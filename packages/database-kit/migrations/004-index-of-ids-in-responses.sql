-- Without a transaction: the responses of a day take up to a minute to index, and every request with a key writes one.
-- fastupdate is off so that no request has to write what others have left to be indexed.
create index concurrently if not exists idempotency_keys_naming on idempotency_keys using gin (ids_in(response))
  with (fastupdate = off) where response is not null;
