-- A response can name other people than the account that got it. Once one of them is erased, no row may name them: the index
-- of the next migration finds the rows, whatever version has written them.
create function ids_in (response jsonb) returns uuid[] language sql immutable parallel safe
  return array(
    select match[1]::uuid
    from regexp_matches(response::text, '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'g') as match);
