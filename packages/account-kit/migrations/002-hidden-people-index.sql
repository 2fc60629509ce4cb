-- For queries that read all hidden people at once, because they look at many rows of others.
create index hidden_people_now on hidden_people (account_id) where is_hidden;
