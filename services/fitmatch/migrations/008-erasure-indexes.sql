-- The rows of one account, for their erasure and for a copy of the account's data.
create index swipes_by_target on swipes (target_id);
create index deleted_profiles_of_account on deleted_profiles (account_id);
