import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { sql } from 'kysely'
import { readLimits } from '@tandem/brand-kit'
import { NIL_UUID, RateLimited } from '@tandem/http-kit'
import { beginUpload, temporaryFile, writeToFile } from '@tandem/media-kit'
import { isMediaKey, isVideoKey } from '@tandem/media-url-kit'
import { isDefinedError, settleBatches, throwErrors, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { PosterUnknown, UploadBehind, UploadNotFound, UploadPartsTooSmall, UploadTooLong } from '../errors.ts'
import { findToday } from '../people/actions.ts'
import type { Db } from '../tables.ts'
import { STORING_LEASE, storeVideo, useVideoQuota } from './videos.ts'

// A video that arrives in parts: a row, and a file for each part. The last part starts the processing; where its process
// is killed or fails, a later question for the result starts it again.

const MAX_PARTS = 200
const EXPIRED_BATCH_SIZE = 20
// Apps ask for the result every second. What fails late, such as a transcoding of a minute, is not repeated as often.
const RETRY_AFTER = '10 seconds'
// Or an account could begin hundreds of thousands in a day.
const MIN_COUNTED_BYTES = 1024 * 1024

/** @throws PosterUnknown, VideoQuotaExceeded */
export async function createUpload (
  deps: Deps,
  accountId: string,
  { mimeType, bytes, posterKey }: { mimeType: string, bytes: number, posterKey: string | undefined }
) {
  if (posterKey !== undefined) await checkPoster(deps.db, accountId, posterKey)
  const day = await findToday(deps, accountId)
  return await deps.db.transaction().execute(async (trx) => {
    await useVideoQuota(trx, { accountId, day, bytes: Math.max(bytes, MIN_COUNTED_BYTES) })
    return await trx.insertInto('media_uploads').values({
      account_id: accountId,
      mime_type: mimeType,
      bytes,
      poster_key: posterKey ?? null
    })
      .returning(uploadColumns).executeTakeFirstOrThrow()
  })
}

async function checkPoster (db: Db, accountId: string, key: string) {
  if (!isMediaKey(key) || isVideoKey(key)) throw new PosterUnknown()
  const image = await db.selectFrom('media').where('key', '=', key).where('account_id', '=', accountId)
    .where('delete_requested_at', 'is', null).select('key').executeTakeFirst()
  if (!image) throw new PosterUnknown()
}

const uploadColumns = [
  'id',
  'bytes',
  'received_bytes as receivedBytes',
  'parts',
  'media_key as mediaKey',
  'problem',
  'expires_at as expiresAt'
] as const

/** @throws UploadNotFound also if it has expired */
export async function readUpload (db: Db, { id, accountId }: { id: string, accountId: string }) {
  const upload = await db.selectFrom('media_uploads').where('id', '=', id).where('account_id', '=', accountId)
    .where('expires_at', '>', sql<Date>`now()`).select(uploadColumns).executeTakeFirst()
  if (!upload) throw new UploadNotFound()
  return upload
}

interface Part {
  id: string
  accountId: string
  /** How many bytes the client believes to have arrived. */
  offset: number
  chunks: AsyncIterable<Buffer>
}

/**
 * Stores a part. Of two parts for the same place at once, one counts.
 * @returns how many bytes have arrived, and until when the rest can
 * @throws UploadNotFound, UploadBehind, UploadTooLong, UploadPartsTooSmall, Unavailable
 */
export async function storePart ({ db, uploadParts }: Deps, { id, accountId, offset, chunks }: Part) {
  const upload = await readUpload(db, { id, accountId })
  if (upload.receivedBytes !== offset) throw new UploadBehind({ bytes: upload.receivedBytes })
  if (upload.parts.length >= MAX_PARTS) throw new UploadPartsTooSmall()
  const part = randomUUID()
  const removePart = async () => await uploadParts.removePart(id, part).catch(() => {})
  let bytes = 0
  try {
    await uploadParts.write(
      id,
      part,
      (async function* () {
        for await (const chunk of chunks) {
          bytes += chunk.length
          if (offset + bytes > upload.bytes) throw new UploadTooLong()
          yield chunk
        }
      })()
    )
  } catch (error) {
    await removePart()
    throw error
  }
  // After an error of this statement the part may count all the same. It is removed with the upload.
  const stored = await db.updateTable('media_uploads').where('id', '=', id).where('received_bytes', '=', offset)
    .where('expires_at', '>', sql<Date>`now()`)
    .set({ received_bytes: offset + bytes, parts: sql`array_append(parts, ${part})` })
    .returning(['received_bytes as receivedBytes', 'expires_at as expiresAt']).executeTakeFirst()
  if (stored) return stored
  await removePart()
  throw new UploadBehind({ bytes: (await readUpload(db, { id, accountId })).receivedBytes })
}

/** @throws UploadNotFound */
export async function deleteUpload (deps: Deps, { id, accountId }: { id: string, accountId: string }) {
  await readUpload(deps.db, { id, accountId })
  await removeUpload(deps, id)
}

async function removeUpload ({ db, uploadParts }: Pick<Deps, 'db' | 'uploadParts'>, id: string) {
  // First it ends: a part that arrives meanwhile does not count any more, and is removed by its own request.
  await db.updateTable('media_uploads').where('id', '=', id)
    .set((row) => ({ expires_at: row.ref('created_at') })).execute()
  await uploadParts.remove(id)
  await db.deleteFrom('media_uploads').where('id', '=', id).execute()
}

/** Stores the video of an upload whose bytes have all arrived, unless that is done or another process does it. */
export async function processUpload (deps: Deps, id: string, log: Pick<Log, 'warn'>) {
  const { db, uploadParts } = deps
  const upload = await db.updateTable('media_uploads').where('id', '=', id)
    .whereRef('received_bytes', '=', 'bytes').where('media_key', 'is', null).where('problem', 'is', null)
    .where((row) => row.or([row('processing_until', 'is', null), row('processing_until', '<', sql<Date>`now()`)]))
    .set({ processing_until: sql<Date>`now() + ${STORING_LEASE}::interval` })
    .returning(['account_id as accountId', 'bytes', 'parts', 'poster_key as posterKey'])
    .executeTakeFirst()
  if (!upload) return
  const { accountId, bytes, parts, posterKey } = upload
  const [path, posterPath] = [temporaryFile(), temporaryFile()]
  const disk = beginUpload(readLimits().videoMegabytes)
  try {
    await writeToFile(path, async (target) => await pipeline(uploadParts.read(id, parts), disk.count, target))
    const poster = posterKey === null ? undefined : await writePoster(deps, posterKey, posterPath)
    const { key } = await storeVideo(deps, { file: { path, bytes }, poster }, { accountId, log, isCounted: true })
    await db.updateTable('media_uploads').where('id', '=', id).set({ media_key: key }).execute()
    await uploadParts.remove(id)
  } catch (error) {
    const problem = problemOf(error)
    await db.updateTable('media_uploads').where('id', '=', id)
      .set({
        processing_until: problem ? null : sql<Date>`now() + ${RETRY_AFTER}::interval`,
        problem: problem && JSON.stringify(problem)
      }).execute()
    if (!problem) throw error
    await uploadParts.remove(id)
  } finally {
    await Promise.all([path, posterPath].map(async (file) => await rm(file, { force: true })))
    disk.free()
  }
}

/** Writes the image to a file. Undefined if it has been deleted meanwhile: the video is worth more than its poster. */
async function writePoster ({ media }: Deps, key: string, path: string) {
  const bytes = await media.find(key)
  if (!bytes) return undefined
  await writeFile(path, bytes)
  return { path, type: 'image/webp' }
}

/** What is wrong with the file; undefined if processing it later may succeed. */
function problemOf (error: unknown) {
  if (!isDefinedError(error) || error instanceof RateLimited || error.statusCode >= 500) return null
  return { textKey: error.textKey, statusCode: error.statusCode, params: error.params }
}

/**
 * Deletes uploads that were not finished within a day, and the rows of others.
 * @throws the errors of those that failed, after all others are deleted
 */
export async function deleteExpiredUploads (deps: Pick<Deps, 'db' | 'uploadParts'>) {
  const failures = await settleBatches({
    batchSize: EXPIRED_BATCH_SIZE,
    async list (after = NIL_UUID) {
      const expired = await deps.db.selectFrom('media_uploads').where('expires_at', '<', sql<Date>`now()`)
        .where('id', '>', after).select('id').orderBy('id').limit(EXPIRED_BATCH_SIZE).execute()
      return expired.map(({ id }) => id)
    },
    work: async (id) => await removeUpload(deps, id)
  })
  throwErrors(failures)
}
