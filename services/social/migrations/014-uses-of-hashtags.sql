-- How many uses of tags were counted. Where they are few, requests count for themselves. A count of an earlier version may be of many.
alter table hashtag_counts add column uses integer not null default 200000;
