import type { ImagePickerAsset } from 'expo-image-picker'

// Of the video, in seconds: the first pictures are often dark.
const POSTER_AT = 0.5
const TIMEOUT_MS = 5_000

/** A picture of a video; undefined if this browser cannot play it. */
export async function drawPoster ({ file, uri }: ImagePickerAsset): Promise<Blob | undefined> {
  const src = file ? URL.createObjectURL(file) : uri
  const video = Object.assign(document.createElement('video'), { muted: true, preload: 'auto', src })
  try {
    await new Promise((resolve, reject) => {
      video.onloadeddata = () => {
        video.currentTime = Math.min(POSTER_AT, video.duration / 2)
      }
      video.onseeked = resolve
      video.onerror = reject
      setTimeout(reject, TIMEOUT_MS)
    })
    const canvas = document.createElement('canvas')
    canvas.width = video.videoWidth
    canvas.height = video.videoHeight
    canvas.getContext('2d')?.drawImage(video, 0, 0)
    return await new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? undefined), 'image/jpeg'))
  } catch {
    return undefined
  } finally {
    video.removeAttribute('src')
    video.load()
    URL.revokeObjectURL(src)
  }
}
