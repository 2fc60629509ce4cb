-- Pushes that the provider did not accept yet, for their metrics. A claim changes none of these columns.
create index deliveries_delayed on deliveries (id) where status = 'pending' and reason is not null;
