import type { ImageDetails, Media } from '@tandem/media-kit'

/** A photo as queries return it: `url` is the stored value. */
export type StoredPhoto = ImageDetails & { url: string }

/** The stored response to a repeated request can be from a version without sizes. */
type PhotoOfAnyVersion = Partial<ImageDetails> & { url: string }

/** A photo with its public URLs, its sizes and its blurhash. */
export const describePhoto = <Photo extends PhotoOfAnyVersion>(media: Media, photo: Photo) => {
  const { width = null, height = null, blurhash = null, ...rest } = photo
  return { ...rest, ...media.describe(photo.url, { width, height, blurhash }) }
}

export const describePhotos = <Photo extends PhotoOfAnyVersion>(media: Media, photos: Photo[]) =>
  photos.map((photo) => describePhoto(media, photo))

/** A profile whose photos are described. */
export const withPhotos = <Photo extends PhotoOfAnyVersion, Profile>(
  media: Media,
  profile: Profile & { photos: Photo[] }
) => ({
  ...profile,
  photos: describePhotos(media, profile.photos)
})
