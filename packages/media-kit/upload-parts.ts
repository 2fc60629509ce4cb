import type { Storage } from './storage.ts'

/** The parts of files that arrive in several requests, in the file storage: the next part may reach another process. */
export interface UploadParts {
  /** @throws Unavailable, and what reading the chunks throws */
  write(uploadId: string, part: string, chunks: AsyncIterable<Buffer>): Promise<void>
  /** The chunks of all parts. @throws Unavailable */
  read(uploadId: string, parts: string[]): AsyncIterable<Buffer>
  /** Deletes one part. */
  removePart(uploadId: string, part: string): Promise<void>
  /** Deletes all parts, also those that nobody knows of because their process was killed. */
  remove(uploadId: string): Promise<void>
}

// Where nobody can read them by a URL: no part has a media key.
const folderOf = (uploadId: string) => `private/uploads/${uploadId}/`

export const createUploadParts = (storage: Storage): UploadParts => ({
  async write (uploadId, part, chunks) {
    let failure: unknown
    const watched = async function* () {
      try {
        yield* chunks
      } catch (error) {
        failure = error
        throw error
      }
    }
    // A storage reports that it is unavailable, whatever failed.
    await storage.putStream(folderOf(uploadId) + part, watched(), 'application/octet-stream')
      .catch((error: unknown) => {
        throw failure ?? error
      })
  },
  async *read (uploadId, parts) {
    for (const part of parts) {
      const chunks = await storage.read(folderOf(uploadId) + part)
      if (!chunks) throw new Error(`part ${part} of upload ${uploadId} is missing`)
      yield* chunks as AsyncIterable<Buffer>
    }
  },
  removePart: async (uploadId, part) => await storage.remove(folderOf(uploadId) + part),
  remove: async (uploadId) => await storage.removeFolder(folderOf(uploadId))
})
