-- Quotas are in daily_quotas.
-- Safe: trusted_contact_quota, which no release has used
drop table trusted_contact_quota;
