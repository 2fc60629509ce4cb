-- An erasure finds the rows of an account by index, however many rows others have. Two indexes had only those that still hold.
drop index strikes_of_account;
create index strikes_of_account on strikes (account_id);
drop index restrictions_of_account;
create index restrictions_of_account on restrictions (account_id);
create index restrictions_of_decision on restrictions (decision_id);
create index mail_requests_of_address on mail_requests (email);
create index issue_reports_of_address on issue_reports (email);
create index staff_invitations_of_operator on staff_invitations (staff_id);
create index passkey_challenges_of_operator on passkey_challenges (staff_id);
