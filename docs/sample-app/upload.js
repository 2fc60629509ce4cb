import { uploadOf } from '@tandem/sdk'
import { tandem } from './api.js'

const PART_BYTES = 1024 * 1024
const PART_TYPE = 'application/offset+octet-stream'
const MAX_FAILURES = 5
const POLL_MS = 500
// Of the video, in seconds: the first pictures are often dark.
const POSTER_AT = 0.5
const POSTER_TIMEOUT_MS = 5_000

/** Uploads a picture, or a video with its poster. `onProgress` gets the share that has arrived. */
export async function upload (file, onProgress) {
  if (!file.type.startsWith('video/')) return (await tandem.uploadMedia(uploadOf(file))).data.media
  const poster = await drawPoster(file)
  const posterKey = poster && (await tandem.uploadMedia(uploadOf(poster))).data.media.key
  return await uploadVideo(file, posterKey, onProgress)
}

/** Sends a video in parts. After a lost connection, it goes on where it has arrived. */
async function uploadVideo (file, posterKey, onProgress) {
  const metadata = [`filetype ${btoa(file.type)}`, posterKey && `poster ${btoa(posterKey)}`].filter(Boolean).join()
  const headers = { 'upload-length': String(file.size), 'upload-metadata': metadata }
  const { data } = await tandem.createMediaUpload({ headers })
  const path = { id: data.upload.id }
  let failures = 0
  for (let offset = 0; offset < file.size;) {
    const part = file.slice(offset, offset + PART_BYTES)
    try {
      const headers = { 'upload-offset': String(offset), 'content-type': PART_TYPE }
      await tandem.sendMediaPart({ path, headers, body: part, bodySerializer: null })
      offset += part.size
      failures = 0
    } catch (error) {
      if (++failures === MAX_FAILURES) throw error
      await sleep(POLL_MS * 2 ** failures)
      const { data } = await tandem.getMediaUpload({ path })
      if (data.media) return data.media
      offset = data.upload.offset
    }
    onProgress(offset / file.size)
  }
  for (;;) {
    const { data } = await tandem.getMediaUpload({ path })
    if (data.media) return data.media
    await sleep(POLL_MS)
  }
}

/** A picture of the video; undefined if this browser cannot play it. */
async function drawPoster (file) {
  const src = URL.createObjectURL(file)
  const video = Object.assign(document.createElement('video'), { muted: true, preload: 'auto', src })
  try {
    await new Promise((resolve, reject) => {
      video.onloadeddata = () => video.currentTime = Math.min(POSTER_AT, video.duration / 2)
      video.onseeked = resolve
      video.onerror = reject
      setTimeout(reject, POSTER_TIMEOUT_MS)
    })
    const canvas = Object.assign(document.createElement('canvas'), {
      width: video.videoWidth,
      height: video.videoHeight
    })
    canvas.getContext('2d').drawImage(video, 0, 0)
    return await new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg'))
  } catch {
    return undefined
  } finally {
    video.removeAttribute('src')
    video.load()
    URL.revokeObjectURL(src)
  }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
