-- Posts that not everybody may see, with images: housekeeping looks for those that still show a public one.
create index posts_with_private_images on posts (id) where visibility <> 'PUBLIC' and deleted_at is null and media_urls <> '{}';
create index stories_with_public_image on stories (id) where cleared_at is null and media_url like 'public/%';
