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
-- A copy of a profile or of messages, with keys in place of the addresses in it.
create function pg_temp.with_keys (given jsonb, field text) returns jsonb language sql immutable as $$
  select coalesce(jsonb_agg(case when each->>field is null then each else jsonb_set(each, array[field], to_jsonb(pg_temp.key_of(each->>field))) end order by place), '[]')
  from jsonb_array_elements(given) with ordinality as elements (each, place)
$$;

update photos set url = pg_temp.key_of(url);
update messages set image_url = pg_temp.key_of(image_url) where image_url is not null;
update departed_profiles set
  photo_urls = pg_temp.keys_of(photo_urls),
  profile = case when profile ? 'photos' then jsonb_set(profile, '{photos}', pg_temp.with_keys(profile->'photos', 'url')) else profile end;
update reports set
  evidence = pg_temp.keys_of(evidence),
  kept_urls = pg_temp.keys_of(kept_urls),
  messages = pg_temp.with_keys(messages, 'imageUrl'),
  profile = case when profile ? 'photos' then jsonb_set(profile, '{photos}', pg_temp.with_keys(profile->'photos', 'url')) else profile end;

drop function pg_temp.with_keys;
drop function pg_temp.keys_of;
drop function pg_temp.key_of;
