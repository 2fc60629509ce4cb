-- Quotas are in daily_quotas.
-- Safe: daily_story_counts, which no release has used
drop table daily_story_counts;
-- Safe: report_quota, which no release has used
drop table report_quota;
