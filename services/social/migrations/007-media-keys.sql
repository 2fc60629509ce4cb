-- Images are named by keys that tell nothing of their owner, and addresses are made of them when they are shown. A key of before moves to the
-- digest of itself, as media-kit's keyAfterMove has it; housekeeping moves the files. Until a process of the version before is replaced, it
-- shows keys in place of addresses.
create function pg_temp.key_of(value text) returns text language sql immutable as $$
  select coalesce((
    select case old[2] when 'chat' then 'private/' else 'public/' end
      || regexp_replace(left(encode(sha256(convert_to(old[1], 'UTF8')), 'hex'), 32), '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '\1-\2-\3-\4-\5') || '.webp'
    from regexp_matches(value, '^(?:https?://[^?#]*/)?((photos|social|fitmatch|chat)/[0-9a-f-]{36}/[0-9a-f-]{36}[.]webp)$') as old
  ), value)
$$;
create function pg_temp.keys_of(given text[]) returns text[] language sql immutable as $$
  select array(select pg_temp.key_of(value) from unnest(given) with ordinality as each (value, place) order by place)
$$;

update posts set media_urls = pg_temp.keys_of(media_urls) where media_urls <> '{}';
update stories set media_url = pg_temp.key_of(media_url) where cleared_at is null;
-- The version before still writes addresses here; nothing reads them any more.
alter table media alter column url drop not null;
update media set key = pg_temp.key_of(key), url = null;

drop function pg_temp.keys_of;
drop function pg_temp.key_of;
