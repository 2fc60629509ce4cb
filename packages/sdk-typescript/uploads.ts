import { TandemError } from './errors.ts'
import type { Operations } from './generated/sdk.gen.ts'
import type { Media } from './generated/types.gen.ts'
import { sleep } from './retries.ts'

/** A file of React Native, whose FormData reads it from the disk. */
export interface NativeFile {
  uri: string
  name: string
  type: string
}

/**
 * The options of an upload: `tandem.uploadMedia(uploadOf(file))`. The file is a File or Blob, or what the photo picker
 * of React Native returns.
 * @param poster the image that is shown until a video plays; only for `uploadMedia`
 */
export function uploadOf (file: Blob | NativeFile, poster?: Blob | NativeFile) {
  const form = new FormData()
  // React Native's FormData takes the description of a file in place of its bytes; no type of it is at hand here.
  if (poster) form.append('poster', poster as Blob)
  form.append('file', file as Blob)
  return { body: { file: file as Blob }, bodySerializer: () => form }
}

export interface VideoUploadOptions {
  /** The `key` of an image that was uploaded before; it is shown until the video plays. */
  poster?: string
  /** @param share of the bytes that have arrived, from 0 to 1 */
  onProgress?: (share: number) => void
  /** Stops the upload, as when its person leaves the page: it ends with the code ABORTED. */
  signal?: AbortSignal
}

/** The type of a part of a video, by the tus protocol. */
export const PART_TYPE = 'application/offset+octet-stream'
const PART_BYTES = 1024 * 1024
const MAX_FAILURES = 5
const DELAY_MS = 500

/**
 * Uploads a video in parts, and waits until it is processed. After a lost connection it goes on where it has arrived.
 * @throws TandemError if the server refuses the video, or cannot be reached five times in a row
 */
export async function uploadVideo (
  tandem: Pick<Operations, 'createMediaUpload' | 'sendMediaPart' | 'getMediaUpload'>,
  file: Blob,
  { poster, onProgress, signal }: VideoUploadOptions = {}
): Promise<Media> {
  const metadata = [`filetype ${btoa(file.type)}`, ...poster === undefined ? [] : [`poster ${btoa(poster)}`]].join()
  const headers = { 'upload-length': String(file.size), 'upload-metadata': metadata }
  const path = { id: (await tandem.createMediaUpload({ headers, signal })).data.upload.id }
  let failures = 0
  let isOffsetKnown = true
  for (let offset = 0; offset < file.size;) {
    const body = file.slice(offset, offset + PART_BYTES)
    const headers = { 'upload-offset': String(offset), 'content-type': PART_TYPE }
    try {
      if (isOffsetKnown) {
        // The document has no type for the bytes of a part.
        await tandem.sendMediaPart({ path, headers, body: body as never, bodySerializer: null, signal })
        offset += body.size
        failures = 0
      } else {
        const { data } = await tandem.getMediaUpload({ path, signal })
        if ('media' in data) return data.media
        offset = data.upload.offset
        isOffsetKnown = true
      }
    } catch (error) {
      await backOff(error, ++failures, signal)
      isOffsetKnown = false
      continue
    }
    onProgress?.(offset / file.size)
  }
  for (failures = 0;;) {
    try {
      const { data } = await tandem.getMediaUpload({ path, signal })
      if ('media' in data) return data.media
      failures = 0
      await sleep(DELAY_MS, signal)
    } catch (error) {
      await backOff(error, ++failures, signal)
    }
  }
}

async function backOff (error: unknown, failures: number, signal: AbortSignal | undefined) {
  if (signal?.aborted || !canGoOn(error) || failures === MAX_FAILURES) throw error
  await sleep(DELAY_MS * 2 ** failures, signal)
}

/** Whether the rest can be sent later: the server was not reached, is busy, or has another offset (409). */
const canGoOn = (error: unknown) =>
  error instanceof TandemError && (error.status === 0 || error.status >= 500 || [408, 409, 429].includes(error.status))
