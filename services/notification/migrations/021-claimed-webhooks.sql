-- Whether a process sends to an endpoint, of which thousands can wait.
create index webhook_deliveries_claimed on webhook_deliveries (endpoint_id) where status = 'pending' and claimed_until is not null;
