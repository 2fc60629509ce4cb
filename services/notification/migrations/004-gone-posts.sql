-- Posts and comments that were deleted: what comes late of them is not told any more.
create table gone_texts (
  id      uuid        primary key,
  gone_at timestamptz not null default now()
);
create index gone_texts_oldest_first on gone_texts (gone_at);

create index notices_of_post on notices (subject_id) where type = 'SOCIAL_FEED' and subject_id is not null and removed_at is null;
