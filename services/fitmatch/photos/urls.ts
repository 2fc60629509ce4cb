import type { Media } from '@tandem/media-kit'

/** A photo as it is shown. Queries give its stored value. */
export const withUrl = <Photo extends { url: string }> (media: Media, photo: Photo): Photo => ({ ...photo, url: media.urlOf(photo.url) })

export const withUrls = <Photo extends { url: string }> (media: Media, photos: Photo[]) => photos.map((photo) => withUrl(media, photo))

/** Somebody with photos as they are shown. */
export const withPhotoUrls = <Someone extends { photos: { url: string }[] }> (media: Media, someone: Someone): Someone =>
  ({ ...someone, photos: withUrls(media, someone.photos) })
