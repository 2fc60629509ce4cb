-- Quotas are in daily_quotas.
-- Safe: swipe_quota, which no release has used
drop table swipe_quota;
-- Safe: position_change_quota, which no release has used
drop table position_change_quota;
-- Safe: report_quota, which no release has used
drop table report_quota;
-- Safe: activity_quota, which no release has used
drop table activity_quota;
-- Safe: invitation_quota, which no release has used
drop table invitation_quota;
-- Safe: join_request_quota, which no release has used
drop table join_request_quota;
-- Safe: buddy_request_quota, which no release has used
drop table buddy_request_quota;
-- Safe: meeting_quota, which no release has used
drop table meeting_quota;
