import { rm, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { readLimits } from '@tandem/brand-kit'
import { useDailyQuota, withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { RateLimited } from '@tandem/http-kit'
import {
  createMediaKey,
  neutralBlurhash,
  prepareVideo,
  reencodeImage,
  takeFrame,
  temporaryFile,
  VIDEO_TYPE,
  type UploadedFile
} from '@tandem/media-kit'
import { Unavailable, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { VideoQuotaExceeded } from '../errors.ts'
import { findToday, type Today } from '../people/actions.ts'
import type { Db, Trx } from '../tables.ts'

const MAX_BYTES_PER_DAY = 500 * 1024 * 1024
const MAX_AT_ONCE = 3
const MAX_WAIT_MS = 10_000
const POLL_INTERVAL_MS = 250
// More than the longest upload takes: waiting for two others that ffmpeg writes, and for its own.
export const STORING_LEASE = '6 minutes'

interface NewFiles {
  file: Pick<UploadedFile, 'path' | 'bytes'>
  poster: Pick<UploadedFile, 'path' | 'type'> | undefined
}

interface Uploader {
  accountId: string
  log: Pick<Log, 'warn'>
  idempotencyKey?: IdempotencyKey | undefined
  /** Aborted when the client disconnects. */
  client?: AbortSignal | undefined
  /** Whether its bytes are counted for the day already. */
  isCounted?: boolean
}

/**
 * Stores an uploaded video with its poster. Its row comes first, so that no file is without a row whenever the process
 * ends. With an idempotency key, a repeat of the request stores nothing.
 * @throws VideoQuotaExceeded, RateLimited, Unavailable, and the errors of prepareVideo and reencodeImage
 */
export async function storeVideo (
  deps: Deps,
  { file, poster }: NewFiles,
  { accountId, log, idempotencyKey, client, isCounted = false }: Uploader
) {
  const { db, media, transcodesVideos: transcodes } = deps
  const { videoSeconds: maxSeconds } = readLimits()
  const key = await waitForTurn(deps, { accountId, bytes: isCounted ? 0 : file.bytes }, client)
  const target = temporaryFile()
  try {
    const ofClient = poster && await reencodeImage(poster.path, poster.type, accountId, client)
    const video = await prepareVideo(file.path, target, { accountId, maxSeconds, client, transcodes })
    const image = ofClient ?? (transcodes ? await createPoster(target, { accountId, log }) : undefined)
    const stored = {
      key,
      mimeType: VIDEO_TYPE,
      ...video,
      blurhash: image?.blurhash ?? neutralBlurhash(await findAvatarBlurhash(db, accountId)),
      bytes: (await stat(target)).size,
      poster: image ? { width: image.width, height: image.height } : null
    }
    await media.storeVideo(key, target, image)
    const first = await withIdempotencyKey(db, idempotencyKey, async (trx) => {
      await complete(trx, stored)
      return stored
    })
    if (first.key !== key) await discard(deps, key).catch(() => {})
    return first
  } catch (error) {
    await discard(deps, key).catch(() => {})
    throw error
  } finally {
    await rm(target, { force: true })
  }
}

/**
 * A frame of the video. Undefined, and logged, if there is none or no time for it: the video is worth more than its
 * poster.
 */
async function createPoster (video: string, { accountId, log }: Pick<Uploader, 'accountId' | 'log'>) {
  const frame = temporaryFile()
  try {
    await takeFrame(video, frame, accountId)
    return await reencodeImage(frame, 'image/png', accountId)
  } catch (error) {
    log.warn({ err: error }, 'a video is stored without a poster')
    return undefined
  } finally {
    await rm(frame, { force: true })
  }
}

/** Waits until fewer than three videos of the account are being stored, and inserts the row of another one. */
async function waitForTurn (
  deps: Deps,
  { accountId, bytes }: Omit<NewVideo, 'day'>,
  client: AbortSignal | undefined
) {
  const day = await findToday(deps, accountId)
  for (const deadline = Date.now() + MAX_WAIT_MS;;) {
    client?.throwIfAborted()
    const key = await startStoring(deps.db, { accountId, bytes, day })
    if (key !== undefined) return key
    if (Date.now() > deadline) throw new RateLimited(MAX_WAIT_MS / 1_000)
    await sleep(POLL_INTERVAL_MS)
  }
}

interface NewVideo {
  accountId: string
  bytes: number
  day: Today
}

/** @returns its key; undefined if the account is storing three already @throws VideoQuotaExceeded */
async function startStoring (db: Db, { accountId, bytes, day }: NewVideo) {
  return await db.transaction().execute(async (trx) => {
    // The row of the quota stays locked, so uploads of one account are counted one after another.
    await useVideoQuota(trx, { accountId, bytes, day })
    const { count } = await trx.selectFrom('media').where('account_id', '=', accountId)
      .where('storing_until', '>', sql<Date>`now()`)
      .select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow()
    if (count >= MAX_AT_ONCE) throw new TooManyAtOnce()
    const key = createMediaKey('public', 'mp4')
    await trx.insertInto('media').values({
      key,
      account_id: accountId,
      mime_type: VIDEO_TYPE,
      width: 0,
      height: 0,
      bytes: 0,
      storing_until: sql<Date>`now() + ${STORING_LEASE}::interval`
    }).execute()
    return key
  }).catch((error: unknown) => {
    if (error instanceof TooManyAtOnce) return undefined
    throw error
  })
}

/** Counts the bytes of a video. @throws VideoQuotaExceeded */
export async function useVideoQuota (trx: Trx, { accountId, bytes, day }: NewVideo) {
  const quota = { name: 'video bytes', accountId, day, limit: MAX_BYTES_PER_DAY, amount: bytes }
  if (await useDailyQuota(trx, quota) === undefined) throw new VideoQuotaExceeded()
}

/** Rolls back, so that its bytes are counted once it is stored. */
class TooManyAtOnce extends Error {}

interface StoredVideo {
  key: string
  width: number
  height: number
  durationSeconds: number
  blurhash: string
  bytes: number
  poster: { width: number, height: number } | null
}

async function complete (db: Db, { key, durationSeconds, poster, ...video }: StoredVideo) {
  const { width, height, bytes, blurhash } = video
  const { numUpdatedRows } = await db.updateTable('media').where('key', '=', key)
    .where('storing_until', 'is not', null)
    .set({
      width,
      height,
      bytes,
      blurhash,
      duration_seconds: durationSeconds,
      poster_width: poster?.width ?? null,
      poster_height: poster?.height ?? null,
      storing_until: null
    })
    .executeTakeFirst()
  // Housekeeping took it for abandoned, or the account was erased meanwhile.
  if (numUpdatedRows === 0n) throw new Unavailable()
}

/** Deletes the files and the row of a video that was not stored. What cannot be deleted now, housekeeping deletes. */
async function discard ({ db, media }: Deps, key: string) {
  await db.updateTable('media').where('key', '=', key).where('storing_until', 'is not', null)
    .set({ storing_until: null, delete_requested_at: sql<Date>`now()` }).execute()
  // A commit can succeed although its answer is lost.
  const stored = await db.selectFrom('media').where('key', '=', key).where('delete_requested_at', 'is', null)
    .select('key').executeTakeFirst()
  if (stored) return
  // The row may be erased with its account, the files not.
  await media.remove(key)
  await db.deleteFrom('media').where('key', '=', key).execute()
}

/** Marks videos for deletion whose process was killed before it had stored them. */
export async function markAbandoned (db: Db) {
  await db.updateTable('media').where('storing_until', '<', sql<Date>`now()`)
    .set({ storing_until: null, delete_requested_at: sql<Date>`now()` }).execute()
}

async function findAvatarBlurhash (db: Db, accountId: string) {
  const person = await db.selectFrom('people').where('account_id', '=', accountId).select('image_blurhash')
    .executeTakeFirst()
  return person?.image_blurhash
}
