import { sql, type Selectable } from 'kysely'
import {
  DashboardPersonalData,
  FitMatchPersonalData,
  NotificationPersonalData,
  ProfilePersonalData,
  SocialPersonalData
} from '@tandem/contracts'
import { workDue } from '@tandem/database-kit'
import { createMail, renderMail } from '@tandem/mail-kit'
import { runPeriodically, type Log } from '@tandem/process-kit'
import { lockAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { digestOfToken, generateToken } from '../random-tokens.ts'
import type { Db, Tables } from '../tables.ts'
import { deleteExpiredFiles } from './actions.ts'
import { writeArchive } from './archive.ts'
import { collectPages, folderOf, type ReadPage } from './pages.ts'

const INTERVAL_MS = 10_000
const DELETE_INTERVAL_MS = 5 * 60 * 1_000
const LEASE_SECONDS = 90
const RENEW_INTERVAL_MS = 1_000
const RETRY_SECONDS = 60
const MAX_RETRY_SECONDS = 600
// About a day.
const MAX_ATTEMPTS = 147
const LINK_LIFETIME = '7 days'
const PAGE_TIMEOUT_MS = 10_000
// Collecting the pages; the rest is the archive.
const PROGRESS_OF_PAGES = 50

const pageRpcs = [
  ProfilePersonalData,
  SocialPersonalData,
  FitMatchPersonalData,
  DashboardPersonalData,
  NotificationPersonalData
]
const services = ['identity', ...pageRpcs.map(({ service }) => service)]

type WorkerDeps = Pick<
  Deps,
  'db' | 'callRpc' | 'erasure' | 'mailer' | 'privateStorage' | 'readFile' | 'publicUrl'
>
type Claimed = Pick<Selectable<Tables['exports']>, 'id' | 'account_id' | 'attempts'>

/** Another worker has the export, or its owner ended it. */
class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** Makes exports and deletes those that are over, in the background until the returned function is called. */
export function startExporting (deps: Deps, log: Log) {
  const stopMaking = runPeriodically(async () => await makeExports(deps, log), { intervalMs: INTERVAL_MS, log })
  const stopDeleting = runPeriodically(async () => await deleteExpiredFiles(deps), {
    intervalMs: DELETE_INTERVAL_MS,
    log
  })
  return async () => {
    await Promise.all([stopMaking(), stopDeleting()])
  }
}

/**
 * Makes the exports that are due. A worker that is killed loses its lease soon, and the next one goes on with the pages
 * that are stored. @returns how many it has tried to make
 */
export async function makeExports (deps: WorkerDeps, log: Log, { leaseSeconds = LEASE_SECONDS } = {}) {
  return await workDue(deps.db, 'exports', {
    key: 'id',
    dueAt: 'claimed_until',
    where: sql`status in ('PENDING', 'RUNNING')`,
    leaseSeconds,
    retrySeconds: RETRY_SECONDS,
    maxRetrySeconds: MAX_RETRY_SECONDS,
    maxAttempts: MAX_ATTEMPTS,
    log,
    async work (claimed) {
      try {
        await makeExport(deps, claimed, leaseSeconds)
      } catch (error) {
        if (!(error instanceof LeaseLost)) throw error
      }
    },
    giveUp: async (claimed) => await failExport(deps, claimed)
  })
}

/** Mails that the copy could not be made. */
async function failExport ({ db, mailer }: WorkerDeps, claimed: Claimed) {
  const { id, account_id: accountId } = claimed
  const mail = await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { id: accountId })
    const failed = await updateClaimed(trx, claimed).set({ status: 'FAILED' }).executeTakeFirst()
    if (!account || !failed) return
    return await createMail(trx, {
      dedupeKey: `export-failed:${id}`,
      recipient: account.email,
      accountId,
      rateLimited: false,
      ...renderMail({ kind: 'exportFailed', locale: account.locale })
    })
  })
  void mailer.enqueue([mail])
}

/** An update of the export, unless it is over or its lease was lost. */
const updateClaimed = (db: Db, { id, attempts }: Claimed) =>
  db.updateTable('exports').where('id', '=', id).where('attempts', '=', attempts)
    .where('status', 'in', ['PENDING', 'RUNNING']).returning('id')

async function makeExport (deps: WorkerDeps, claimed: Claimed, leaseSeconds: number) {
  const { db, privateStorage, readFile } = deps
  const { id, account_id: accountId } = claimed
  const renew = createLease(deps, claimed, leaseSeconds)
  await renew(0)
  const account = await db.selectFrom('accounts').where('id', '=', accountId).select('locale').executeTakeFirst()
  if (!account) return
  for (const [index, service] of services.entries()) {
    await collectPages({ storage: privateStorage, exportId: id, service }, accountId, {
      readPage: pageReaderOf(deps, service),
      onPage: async () => await renew(PROGRESS_OF_PAGES * (index / services.length))
    })
  }
  const archive = await writeArchive({
    storage: privateStorage,
    readFile,
    exportId: id,
    services,
    locale: account.locale,
    onProgress: async (part) => await renew(PROGRESS_OF_PAGES + (100 - PROGRESS_OF_PAGES) * part)
  })
  await completeExport(deps, claimed, archive)
  await privateStorage.removeFolder(`${folderOf(id)}pages/`)
}

function pageReaderOf ({ callRpc, erasure }: WorkerDeps, service: string): ReadPage {
  const rpc = pageRpcs.find((each) => each.service === service)
  return rpc
    ? async (page) => await callRpc(rpc, page, { timeoutMs: PAGE_TIMEOUT_MS })
    : erasure.readPersonalData
}

/** @returns a function that keeps the lease and stores the progress; it throws LeaseLost */
function createLease ({ db }: WorkerDeps, claimed: Claimed, leaseSeconds: number) {
  let renewedAt = 0
  return async (progress: number) => {
    if (Date.now() - renewedAt < RENEW_INTERVAL_MS) return
    renewedAt = Date.now()
    const renewed = await updateClaimed(db, claimed)
      .set({
        status: 'RUNNING',
        progress: Math.floor(progress),
        claimed_until: sql`now() + make_interval(secs => ${leaseSeconds})`
      })
      .executeTakeFirst()
    if (!renewed) throw new LeaseLost()
  }
}

/** Mails the link. The token exists in the mail alone. */
async function completeExport (
  { db, mailer, publicUrl }: WorkerDeps,
  claimed: Claimed,
  { bytes, sha256 }: { bytes: number, sha256: string }
) {
  const { id, account_id: accountId } = claimed
  const mail = await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { id: accountId })
    const token = generateToken()
    const completed = await updateClaimed(trx, claimed)
      .set({
        status: 'READY',
        progress: 100,
        token_digest: digestOfToken(token),
        bytes,
        sha256,
        ready_at: sql`now()`,
        expires_at: sql`now() + ${LINK_LIFETIME}::interval`
      })
      .executeTakeFirst()
    if (!account || !completed) throw new LeaseLost()
    return await createMail(trx, {
      dedupeKey: `export-ready:${id}`,
      recipient: account.email,
      accountId,
      collapseKey: `export ${accountId}`,
      rateLimited: false,
      lifetime: LINK_LIFETIME,
      // In the fragment, which browsers never send to a server.
      ...renderMail({ kind: 'exportReady', locale: account.locale, url: `${publicUrl}/my-data#${token}` })
    })
  })
  void mailer.enqueue([mail])
}
