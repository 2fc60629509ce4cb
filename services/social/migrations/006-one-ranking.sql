-- What trended at one moment, for everybody. Pages are cut from one ranking while scores go on moving. Nothing is written on a read.
-- `rankings` and `ranking_readers` are unused from here on; the release after this one drops them.
create table trending_rankings (
  number       bigint      primary key generated always as identity,
  post_ids     uuid[]      not null,
  took_ms      integer     not null,
  confirmed_at timestamptz not null default now()  -- when the order was last found to be this
);
