-- The photos that stood on the profile when a selfie was handed in. An approval is of these and of no others, so a photo that is added
-- while operators compare is not approved with them. A request that the version before this one takes has none and cannot be approved.
create table verification_photos (
  verification_id uuid    not null references verifications on delete cascade,
  photo_id        uuid    not null references photos on delete cascade,
  is_main         boolean not null,
  primary key (verification_id, photo_id)
);
create index verification_photos_of_photo on verification_photos (photo_id);

insert into verification_photos (verification_id, photo_id, is_main)
select verifications.id, photos.id, photos.is_main from verifications join photos on photos.profile_id = verifications.profile_id
where status = 'PENDING' or (status = 'APPROVED' and photos.is_verified);
