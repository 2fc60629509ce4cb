import { sql } from 'kysely'
import { chunksOf } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { ImportNotFound, ImportRunning, UndoExpired } from '../errors.ts'
import { deleteImportedLogs, writeLogs } from '../logs/actions.ts'
import { isDeleted, isRejected, parseItem } from '../logs/items.ts'
import type { Db, ImportFormat, ImportStatus, RefusedEntry } from '../tables.ts'
import { HostileFile } from './formats/entries.ts'
import { readFileApart, type ReadEntry } from './reader.ts'

const LEASE_SECONDS = 300
const MAX_ATTEMPTS = 5
const ITEMS_AT_ONCE = 500
const LOGS_AT_ONCE = 1_000
const UNDO_DAYS = 7
const MAX_REFUSED_SHOWN = 100

interface NewImport {
  accountId: string
  file: Buffer
  format: ImportFormat
  columns: Record<string, string> | null
  timezone: string
}

/** Stores a file to read. @throws ImportRunning if the account has another one that is not finished */
export async function createImport (db: Db, { accountId, file, format, columns, timezone }: NewImport) {
  return await db.transaction().execute(async (trx) => {
    const created = await trx.insertInto('imports')
      .values({
        account_id: accountId,
        status: 'PENDING',
        format,
        columns: columns && JSON.stringify(columns),
        timezone
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst()
    if (!created) throw new ImportRunning()
    await trx.insertInto('import_files').values({ import_id: created.id, account_id: accountId, bytes: file }).execute()
    return created.id
  })
}

type Work = Pick<Deps, 'db' | 'now'>

/** Does what is left of an import, or of undoing one, unless another process is at it. It can be called again at any time. */
export async function workOnImport (deps: Work, id: string) {
  const claimed = await claim(deps.db, id)
  if (!claimed) return
  if (claimed.status === 'UNDOING') return await undo(deps.db, claimed.account_id, id)
  if (claimed.attempts > MAX_ATTEMPTS) {
    return await finish(deps.db, id, { status: 'FAILED', error: 'The file could not be read' })
  }
  const file = await deps.db.selectFrom('import_files').where('import_id', '=', id).select('bytes').executeTakeFirst()
  if (!file) return
  try {
    const { format, columns, timezone } = claimed
    const entries = await readFileApart(file.bytes, { format, columns, timezone })
    await store(deps, claimed, entries)
  } catch (error) {
    if (!(error instanceof HostileFile)) throw error
    await finish(deps.db, id, { status: 'FAILED', error: error.message.slice(0, 500) })
  }
}

async function claim (db: Db, id: string) {
  return await db.updateTable('imports').where('id', '=', id)
    .where('status', 'in', ['PENDING', 'RUNNING', 'UNDOING'])
    .where((row) => row.or([row('claimed_until', 'is', null), row('claimed_until', '<', sql<Date>`now()`)]))
    .set((row) => ({
      status: sql<ImportStatus>`case status when 'PENDING' then 'RUNNING' else status end`,
      claimed_until: sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})`,
      attempts: row('attempts', '+', 1)
    }))
    .returning(['id', 'account_id', 'status', 'format', 'columns', 'timezone', 'attempts'])
    .executeTakeFirst()
}

type Claimed = NonNullable<Awaited<ReturnType<typeof claim>>>

/** Writes the entries in batches. A repeat after a crash writes the same logs again, which changes nothing. */
async function store ({ db, now }: Work, { id, account_id: accountId, timezone }: Claimed, entries: ReadEntry[]) {
  const parsed = entries.map((entry) => ({ ...entry, parsed: parseItem(entry.item, now()) }))
  const refused = parsed.flatMap(({ line, parsed }) => isRejected(parsed) ? [{ line, reason: parsed.error }] : [])
  const valid = parsed.flatMap(({ parsed, ...entry }) =>
    isRejected(parsed) || isDeleted(parsed) ? [] : [{ ...entry, parsed }]
  )
  let written = 0
  for (const chunk of chunksOf(valid, ITEMS_AT_ONCE)) {
    const parsedItems = chunk.map(({ parsed, isSplit }) => ({ ...parsed, isSplit }))
    const results = await writeLogs(db, {
      accountId,
      zone: timezone,
      parsedItems,
      idempotencyKey: undefined,
      importId: id
    })
    results.forEach(({ status }, index) => {
      const line = chunk[index]?.line
      if (status === 'unchanged' && line !== undefined) {
        refused.push({ line, reason: 'You deleted it, or have a newer version' })
      }
    })
    written += chunk.length
    await saveProgress(db, id, Math.round(written / valid.length * 100))
  }
  const created = await db.selectFrom('logs').where('import_id', '=', id)
    .select([
      'client_id as key',
      sql<boolean>`type in ('WORKOUT', 'SLEEP') and (not counts or parts is not null)`.as('isMerged')
    ])
    .execute()
  const keys = new Set(created.map(({ key }) => key))
  await finish(db, id, {
    status: 'DONE',
    found: entries.reduce((sum, { count }) => sum + count, 0),
    created: valid.filter(({ parsed }) => keys.has(parsed.key)).reduce((sum, { count }) => sum + count, 0),
    merged: created.filter(({ isMerged }) => isMerged).length,
    refused
  })
}

async function saveProgress (db: Db, id: string, progress: number) {
  await db.updateTable('imports').where('id', '=', id)
    .set({ progress, claimed_until: sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})` })
    .execute()
}

interface Outcome {
  status: 'DONE' | 'FAILED'
  error?: string
  found?: number
  created?: number
  merged?: number
  refused?: RefusedEntry[]
}

/** Stores the result, and deletes the file, which nothing needs any more. */
async function finish (db: Db, id: string, { refused = [], ...outcome }: Outcome) {
  await db.transaction().execute(async (trx) => {
    await trx.updateTable('imports').where('id', '=', id)
      .set({
        ...outcome,
        progress: 100,
        refused: JSON.stringify(refused.slice(0, MAX_REFUSED_SHOWN)),
        refused_count: refused.length,
        claimed_until: null,
        finished_at: sql<Date>`now()`
      })
      .execute()
    await trx.deleteFrom('import_files').where('import_id', '=', id).execute()
  })
}

/** Starts to delete what an import created. @throws ImportNotFound, ImportRunning, UndoExpired */
export async function startUndo (db: Db, accountId: string, id: string) {
  await db.transaction().execute(async (trx) => {
    const found = await trx.selectFrom('imports').where('id', '=', id).where('account_id', '=', accountId)
      .select(['status', sql<boolean>`finished_at < now() - make_interval(days => ${UNDO_DAYS})`.as('isExpired')])
      .forUpdate()
      .executeTakeFirst()
    if (!found) throw new ImportNotFound()
    if (found.status === 'PENDING' || found.status === 'RUNNING') throw new ImportRunning()
    if (found.status !== 'DONE') return
    if (found.isExpired) throw new UndoExpired()
    const running = await trx.selectFrom('imports').where('account_id', '=', accountId)
      .where('status', 'in', ['PENDING', 'RUNNING', 'UNDOING'])
      .select('id')
      .executeTakeFirst()
    if (running) throw new ImportRunning()
    await trx.updateTable('imports').where('id', '=', id).set({ status: 'UNDOING', attempts: 0 }).execute()
  })
}

async function undo (db: Db, accountId: string, id: string) {
  while (await deleteImportedLogs(db, { accountId, importId: id, limit: LOGS_AT_ONCE }) > 0) {
    await saveProgress(db, id, 100)
  }
  await db.updateTable('imports').where('id', '=', id).set({ status: 'UNDONE', claimed_until: null }).execute()
}
