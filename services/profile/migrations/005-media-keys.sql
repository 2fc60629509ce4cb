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

alter table people add column announced_base text;  -- under which address other services know the picture
update people set photos = pg_temp.keys_of(photos), image = pg_temp.key_of(image) where photos <> '{}' or image is not null;
update uploads set key = pg_temp.key_of(key);
insert into uploads (key, account_id, unused_since)
  select photo, min(account_id::text)::uuid, null from people, unnest(photos) as photo where photo like 'public/%' group by photo
  on conflict (key) do nothing;
create index people_with_pictures on people (announced_base) where image like 'public/%';

drop function pg_temp.keys_of;
drop function pg_temp.key_of;
