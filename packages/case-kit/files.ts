import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { sql, type Kysely, type RawBuilder, type SqlBool, type Transaction } from 'kysely'
import type { Media } from '@tandem/media-kit'
import { settleEach } from '@tandem/process-kit'
import type { CaseTables } from './tables.ts'

const BATCH_SIZE = 20
const KEPT_FOR = '180 days'
const PURGE_BATCH_SIZE = 1_000

/** Whether an image is evidence that is not copied yet. `key` is a column that holds its storage key. */
export const isAwaitingCopy = (key: RawBuilder<unknown>) =>
  sql<SqlBool>`exists (
  select from case_files evidence where evidence.source = ${key} and evidence.copied_at is null offset 0)`

export interface ReportedImage {
  source: string
  ownerId: string
}

/** What a service does with an image that is no longer needed as evidence, in the transaction that says so. */
type Release<Tables> = (trx: Transaction<Tables>, image: ReportedImage) => Promise<unknown>

/**
 * Copies reported images to private storage and stores their digests. A repeat writes the same file again, so it can stop
 * anywhere.
 * @param onFailure called with the error of an image that stays to be copied, while the others are; by default it throws
 * @returns the originals that it has copied
 */
export async function copyCaseFiles<Tables extends CaseTables> (
  { db, media }: { db: Kysely<Tables>, media: Media },
  release: Release<Tables> = async () => {},
  onFailure: (error: unknown) => void = (error) => {
    throw error
  }
): Promise<string[]> {
  const copied: string[] = []
  const failed: string[] = []
  for (;;) {
    const { rows } = await sql<ReportedImage & { caseId: string, number: number, copy: string }>`
      select case_id as "caseId", number, source, owner_id as "ownerId", copy from case_files
      where copied_at is null and source <> all(${failed}::text[]) order by created_at limit ${sql.lit(BATCH_SIZE)}`
      .execute(db)
    for (const { caseId, number, source, ownerId, copy } of rows) {
      try {
        await media.copy(source, copy)
        // Of the stored copy, not of the bytes that were sent to the storage.
        const sha256 = await digestOf(await media.read(copy))
        await db.transaction().execute(async (trx) => {
          await sql`
            update case_files set copied_at = now(), sha256 = ${sha256}
            where case_id = ${caseId} and number = ${number} and copied_at is null`.execute(trx)
          await release(trx, { source, ownerId })
        })
        copied.push(source)
      } catch (error) {
        onFailure(error)
        failed.push(source)
      }
    }
    if (rows.length < BATCH_SIZE) return copied
  }
}

async function digestOf (file: Readable | undefined) {
  if (!file) return null
  const digest = createHash('sha256')
  await pipeline(file, digest)
  return digest.digest()
}

/** Whether the row of `cases` has to stay: it is open, held, may soon be held, or was decided within 180 days. */
export const isCaseKept = sql<SqlBool>`(purged_at is null and (resolved_at is null or is_held
  or resolved_at > now() - ${sql.lit(KEPT_FOR)}::interval
  or exists (select from proposals where kind = 'HOLD' and subject = cases.id::text and status = 'OPEN'
    and expires_at > now())))`

/**
 * Locks cases, and marks those whose time is over, so that they cannot be held any more. Nothing of a case is deleted
 * before: a hold takes the same lock, so it comes first and the case stays, or it finds no case.
 * @param which selects the cases: a condition over `cases`, with an order
 */
export async function markPurged (trx: Transaction<CaseTables>, which: RawBuilder<unknown>) {
  const { rows } = await sql<{ id: string }>`select id from cases where ${which} for update`.execute(trx)
  if (rows.length === 0) return
  // A statement of its own, so that it sees the proposal of the transaction for whose lock the first one waited.
  await sql`
    update cases set purged_at = now()
    where id = any(${rows.map(({ id }) => id)}::uuid[]) and purged_at is null and not ${isCaseKept}`.execute(trx)
}

/** Deletes the cases whose time is over, with their files. Held cases stay. After a crash, the next call goes on. */
export async function purgeCases ({ db, media }: { db: Kysely<CaseTables>, media: Media }) {
  await db.transaction().execute(async (trx) => {
    const isOver = sql`purged_at is null and not ${isCaseKept}`
    await markPurged(trx, sql`${isOver} order by id limit ${sql.lit(PURGE_BATCH_SIZE)}`)
  })
  const { rows } = await sql<{ id: string, copies: string[] }>`
    select id, array(select copy from case_files where case_id = cases.id) as copies
    from cases where purged_at is not null limit ${sql.lit(PURGE_BATCH_SIZE)}`.execute(db)
  await settleEach(rows, async ({ id, copies }) => {
    for (const copy of copies) await media.remove(copy)
    await sql`delete from cases where id = ${id}`.execute(db)
  })
}
