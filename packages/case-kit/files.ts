import { createHash } from 'node:crypto'
import { sql, type Kysely, type RawBuilder, type SqlBool, type Transaction } from 'kysely'
import type { Media } from '@tandem/media-kit'
import { settleEach } from '@tandem/process-kit'
import type { CaseTables } from './tables.ts'

const BATCH_SIZE = 20
const KEPT_FOR = '180 days'

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
        const bytes = await media.find(copy)
        const sha256 = bytes ? createHash('sha256').update(bytes).digest() : null
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

/** Whether the row of `cases` has to stay: it is open, held, may soon be held, or was decided within 180 days. */
export const isCaseKept = sql<SqlBool>`(resolved_at is null or is_held
  or resolved_at > now() - ${sql.lit(KEPT_FOR)}::interval
  or exists (select from proposals where kind = 'HOLD' and subject = cases.id::text and status = 'OPEN'
    and expires_at > now()))`

/** Deletes the cases whose time is over, with their files. Held cases stay. */
export async function purgeCases<Tables extends CaseTables> (
  { db, media }: { db: Kysely<Tables>, media: Media }
) {
  const { rows } = await sql<{ id: string }>`select id from cases where not ${isCaseKept} limit 1000`.execute(db)
  await settleEach(rows, async ({ id }) => await purgeCase({ db, media }, id))
}

/** The case is locked until its files are gone: a hold that comes meanwhile finds no case, never one without files. */
async function purgeCase<Tables extends CaseTables> (
  { db, media }: { db: Kysely<Tables>, media: Media },
  id: string
) {
  await db.transaction().execute(async (trx) => {
    await sql`select from cases where id = ${id} for update`.execute(trx)
    // A statement of its own sees what others did to the case while the one above waited for them.
    const { rows: [due] } = await sql<{ copies: string[] }>`
      select array(select copy from case_files where case_id = cases.id) as copies
      from cases where id = ${id} and not ${isCaseKept}`.execute(trx)
    if (!due) return
    for (const copy of due.copies) await media.remove(copy)
    await sql`delete from cases where id = ${id}`.execute(trx)
  })
}
