import type { Media } from '@tandem/media-kit'

/** A photo with its public URL in place of the stored value that queries return. */
export const withUrl = <Photo extends { url: string }>(media: Media, photo: Photo): Photo => ({
  ...photo,
  url: media.urlOf(photo.url)
})

export const withUrls = <Photo extends { url: string }>(media: Media, photos: Photo[]) =>
  photos.map((photo) => withUrl(media, photo))

/** A profile whose photos have their public URLs. */
export const withPhotoUrls = <Profile extends { photos: { url: string }[] }>(
  media: Media,
  profile: Profile
): Profile => ({ ...profile, photos: withUrls(media, profile.photos) })
