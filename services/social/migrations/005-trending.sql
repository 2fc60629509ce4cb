-- The order of trending posts at one moment, the same for everybody. All pages of one reader come from one ranking while scores change.
-- Reads write nothing.
create table trending_rankings (
  number       bigint      primary key generated always as identity,
  post_ids     uuid[]      not null,
  duration_ms      integer     not null,
  confirmed_at timestamptz not null default now()  -- when this order was last found to be current
);
