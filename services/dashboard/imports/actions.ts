import { sql } from 'kysely'
import { dayAround } from '@tandem/account-kit'
import { isUniqueViolation, useDailyQuota } from '@tandem/database-kit'
import type { Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { ImportNotFound, ImportRunning, TooManyImports, TooManyLogs, UndoExpired } from '../errors.ts'
import { deleteImportedLogs, writeLogs } from '../logs/actions.ts'
import { isDeleted, isRejected, parseItem, type Item } from '../logs/items.ts'
import { sumOf } from '../log-types/data.ts'
import type { Db, ImportFormat, ImportStatus, RefusedEntry } from '../tables.ts'
import { HostileFile, type Entry } from './formats/entries.ts'
import { findNextTurn } from './queries.ts'
import { readFileApart, TooSlow } from './reader.ts'

const LEASE_SECONDS = 300
const MAX_ATTEMPTS = 5
const DEADLINE_MS = 120_000
// What takes longer, or has more entries, is slow.
const QUICK_DEADLINE_MS = 15_000
const MAX_QUICK_ENTRIES = 10_000
// The files of all accounts are read one after the other.
const IMPORTS_PER_DAY = 20
// What is written at once, as in a batch of a phone: other requests wait for its parsing, and Postgres for a statement.
const MAX_BATCH_ENTRIES = 500
const MAX_BATCH_BYTES = 1024 * 1024
const LOGS_AT_ONCE = 100
const UNDO_DAYS = 7
const MAX_REFUSED_SHOWN = 100

interface NewImport {
  accountId: string
  file: Buffer
  format: ImportFormat
  columns: Record<string, string> | null
  timezone: string
}

/** Stores a file to read. @throws ImportRunning if the account has another one that is not finished, TooManyImports */
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
    const quota = { name: 'imports', accountId, day: dayAround('UTC', new Date()), limit: IMPORTS_PER_DAY }
    if (await useDailyQuota(trx, quota) === undefined) throw new TooManyImports({ max: IMPORTS_PER_DAY })
    await trx.insertInto('import_files').values({ import_id: created.id, account_id: accountId, bytes: file }).execute()
    return created.id
  })
}

interface Work extends Pick<Deps, 'db' | 'now' | 'sendEphemeral'> {
  log: Log
}

interface Pace {
  quickDeadlineMs?: number
}

/**
 * Works on the import whose turn it is: the slow files of some accounts do not keep those of all others waiting.
 * @returns whether there was one
 */
export async function workOnNextImport (deps: Work, pace: Pace = {}) {
  const id = await findNextTurn(deps.db)
  if (id !== undefined) await workOnImport(deps, id, pace)
  return id !== undefined
}

/** Does what is left of an import, or of undoing one, unless another process is at it. It can be called again at any time. */
export async function workOnImport (deps: Work, id: string, { quickDeadlineMs = QUICK_DEADLINE_MS }: Pace = {}) {
  const { db, log } = deps
  const claimed = await claim(db, id)
  if (!claimed) return
  if (claimed.status === 'UNDOING') return await undo(deps, claimed)
  if (claimed.attempts > MAX_ATTEMPTS) {
    return await finish(deps, claimed, { status: 'FAILED', error: 'The file could not be read' })
  }
  const { is_slow: isSlow } = claimed
  try {
    const lines = await readEntries(db, claimed, isSlow ? DEADLINE_MS : quickDeadlineMs)
    if (!isSlow && lines.length > MAX_QUICK_ENTRIES) return await postpone(db, claimed)
    await store(deps, claimed, lines)
  } catch (error) {
    if (!isSlow && error instanceof TooSlow) return await postpone(db, claimed)
    if (!(error instanceof HostileFile || error instanceof TooManyLogs)) throw error
    if (error.cause) log.warn({ err: error, import: id, format: claimed.format }, 'reading a file failed unexpectedly')
    await finish(deps, claimed, { status: 'FAILED', error: error.message.slice(0, 500) })
  }
}

/** Puts an import that has turned out to be slow behind those that are not. */
async function postpone (db: Db, { id, attempts }: Claimed) {
  await db.updateTable('imports').where('id', '=', id).where('attempts', '=', attempts)
    .set({ status: 'PENDING', is_slow: true, claimed_until: null })
    .execute()
}

/** Claims an import. `attempts` is then the claim's number: a later claim has another one. */
async function claim (db: Db, id: string) {
  return await db.updateTable('imports').where('id', '=', id)
    .where('status', 'in', ['PENDING', 'RUNNING', 'UNDOING'])
    .where((row) => row.or([row('claimed_until', 'is', null), row('claimed_until', '<', sql<Date>`now()`)]))
    .set((row) => ({
      status: sql<ImportStatus>`case status when 'PENDING' then 'RUNNING' else status end`,
      claimed_until: sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})`,
      attempts: row('attempts', '+', 1)
    }))
    .returning(['id', 'account_id', 'status', 'format', 'columns', 'timezone', 'attempts', 'is_slow'])
    .executeTakeFirst()
}

type Claimed = NonNullable<Awaited<ReturnType<typeof claim>>>

async function readEntries (db: Db, { id, format, columns, timezone }: Claimed, deadlineMs: number) {
  const { bytes } = await db.selectFrom('import_files').where('import_id', '=', id).select('bytes')
    .executeTakeFirstOrThrow()
  return await readFileApart(bytes, { format, columns, timezone }, deadlineMs)
}

/** Writes the entries in batches. A repeat after a crash writes the same logs again, which changes nothing. */
async function store (deps: Work, claimed: Claimed, lines: string[]) {
  const { db, now } = deps
  const { id, account_id: accountId, timezone: zone } = claimed
  const refused: RefusedEntry[] = []
  const entriesOf = new Map<string, number>()
  let [found, done] = [0, 0]
  for (const batch of batchesOf(lines)) {
    if (!await renewLease(deps, claimed, Math.round(done / lines.length * 100))) return
    const valid: { line: number, item: Item }[] = []
    for (const { line, count, isSplit, item } of batch.map((json) => JSON.parse(json) as Entry)) {
      found += count
      const parsed = parseItem(item, now())
      if (isRejected(parsed)) refused.push({ line, reason: parsed.error })
      else if (!isDeleted(parsed)) {
        valid.push({ line, item: { ...parsed, isSplit } })
        entriesOf.set(parsed.key, (entriesOf.get(parsed.key) ?? 0) + count)
      }
    }
    const parsedItems = valid.map(({ item }) => item)
    const results = await writeLogs(db, { accountId, zone, parsedItems, idempotencyKey: undefined, importId: id })
    for (const [index, { line }] of valid.entries()) {
      if (results[index]?.status === 'unchanged') {
        refused.push({ line, reason: 'You deleted it, or have a newer version' })
      }
    }
    done += batch.length
  }
  const logs = await listImportedLogs(db, id)
  await finish(deps, claimed, {
    status: 'DONE',
    found,
    created: sumOf(logs.map(({ key }) => entriesOf.get(key) ?? 0)),
    merged: logs.filter(({ isMerged }) => isMerged).length,
    refused
  })
}

function* batchesOf (lines: string[]) {
  let batch: string[] = []
  let bytes = 0
  for (const line of lines) {
    if (batch.length === MAX_BATCH_ENTRIES || batch.length > 0 && bytes + line.length > MAX_BATCH_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(line)
    bytes += line.length
  }
  if (batch.length > 0) yield batch
}

/** The logs that an import has created, with whether they are one session with others. */
async function listImportedLogs (db: Db, id: string) {
  return await db.selectFrom('logs').where('import_id', '=', id)
    .select([
      'client_id as key',
      sql<boolean>`type in ('WORKOUT', 'SLEEP') and (not counts or parts is not null)`.as('isMerged')
    ])
    .execute()
}

/**
 * Extends the lease for the next batch, and reports the progress. Returns false if the lease had ended and another process
 * has the import: then this one must write nothing more.
 */
async function renewLease (deps: Work, claimed: Claimed, progress: number) {
  const { id, attempts, status } = claimed
  const renewed = await deps.db.updateTable('imports').where('id', '=', id).where('attempts', '=', attempts)
    .set({ progress, claimed_until: sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})` })
    .returning('id')
    .executeTakeFirst()
  if (renewed) report(deps, claimed, { status, progress })
  return renewed !== undefined
}

/** Sends how far it is to the devices of the account. */
function report (
  { sendEphemeral }: Work,
  { id: importId, account_id: to }: Claimed,
  state: { status: ImportStatus, progress: number }
) {
  sendEphemeral({ to, frame: { type: 'import.changed', at: new Date().toISOString(), data: { importId, ...state } } })
}

interface Outcome {
  status: 'DONE' | 'FAILED'
  error?: string
  found?: number
  created?: number
  merged?: number
  refused?: RefusedEntry[]
}

/** Stores the result, unless another process has the import, and deletes the file, which nothing needs any more. */
async function finish (deps: Work, claimed: Claimed, { refused = [], ...outcome }: Outcome) {
  const { id, attempts } = claimed
  const isFinished = await deps.db.transaction().execute(async (trx) => {
    const finished = await trx.updateTable('imports').where('id', '=', id).where('attempts', '=', attempts)
      .set({
        ...outcome,
        progress: 100,
        refused: JSON.stringify(refused.slice(0, MAX_REFUSED_SHOWN)),
        refused_count: refused.length,
        claimed_until: null,
        finished_at: sql<Date>`now()`
      })
      .returning('id')
      .executeTakeFirst()
    if (finished) await trx.deleteFrom('import_files').where('import_id', '=', id).execute()
    return finished !== undefined
  })
  if (isFinished) report(deps, claimed, { status: outcome.status, progress: 100 })
}

/** Starts to delete what an import created, also one that failed on the way. @throws ImportNotFound, ImportRunning, UndoExpired */
export async function startUndo (db: Db, accountId: string, id: string) {
  await db.transaction().execute(async (trx) => {
    const found = await trx.selectFrom('imports').where('id', '=', id).where('account_id', '=', accountId)
      .select(['status', sql<boolean>`finished_at < now() - make_interval(days => ${UNDO_DAYS})`.as('isExpired')])
      .forUpdate()
      .executeTakeFirst()
    if (!found) throw new ImportNotFound()
    if (found.status === 'PENDING' || found.status === 'RUNNING') throw new ImportRunning()
    if (found.status === 'UNDOING' || found.status === 'UNDONE') return
    if (found.isExpired) throw new UndoExpired()
    await trx.updateTable('imports').where('id', '=', id).set({ status: 'UNDOING' }).execute()
  }).catch((error: unknown) => {
    // The index that allows one unfinished import of an account.
    throw isUniqueViolation(error) ? new ImportRunning() : error
  })
}

async function undo (deps: Work, claimed: Claimed) {
  const { db } = deps
  const { id: importId, account_id: accountId, attempts } = claimed
  do {
    if (!await renewLease(deps, claimed, 100)) return
  } while (await deleteImportedLogs(db, { accountId, importId, limit: LOGS_AT_ONCE }) > 0)
  const undone = await db.updateTable('imports').where('id', '=', importId).where('attempts', '=', attempts)
    .set({ status: 'UNDONE', claimed_until: null })
    .returning('id')
    .executeTakeFirst()
  if (undone) report(deps, claimed, { status: 'UNDONE', progress: 100 })
}
