-- Postgres looks for the votes of each option that is deleted: without it, in all votes.
create index votes_of_option on poll_votes (option_id);
