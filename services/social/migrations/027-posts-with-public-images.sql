-- Housekeeping looks for non-public posts that still show a public image: very few of all non-public posts with images, which
-- the earlier index has.
create function shows_public_image (images text[]) returns boolean immutable language sql
  return exists (select from unnest(images) as image where image like 'public/%');
create index posts_with_public_image on posts (id)
  where visibility <> 'PUBLIC' and deleted_at is null and media_urls <> '{}' and shows_public_image(media_urls);
drop index posts_with_private_images;
