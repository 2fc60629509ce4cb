-- Postgres looks for the votes of each option that is deleted: without it, in all votes.
create index votes_of_option on poll_votes (option_id);
-- Also those that have ended.
create index matches_of_account on matches (account_id);
