import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import {
  DashboardPersonalData,
  FitMatchPersonalData,
  NotificationPersonalData,
  ProfilePersonalData,
  SocialPersonalData
} from '@tandem/contracts'
import { createMail } from '@tandem/mail-kit'
import { runPeriodically, type Log } from '@tandem/process-kit'
import { lockAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { mailTemplatesFor } from '../mails/templates.ts'
import { digestOfToken, generateToken } from '../random-tokens.ts'
import { deleteExpiredFiles } from './actions.ts'
import { writeArchive } from './archive.ts'
import { collectPages, folderOf, type ReadPage } from './pages.ts'

const INTERVAL_MS = 10_000
const DELETE_INTERVAL_MS = 5 * 60 * 1_000
const LEASE_SECONDS = 90
const RENEW_INTERVAL_MS = 1_000
const RETRY_AFTER = '1 minute'
const GIVE_UP_AFTER = '1 day'
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
  'db' | 'callRpc' | 'departures' | 'mailer' | 'privateStorage' | 'readFile' | 'publicUrl'
>
interface Claimed {
  id: string
  accountId: string
  claim: string
}

/** Another worker has the export, or its owner ended it. */
class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** Makes exports and deletes those that are over, in the background until the returned function is called. */
export function startExporting (deps: Deps, log: Log) {
  const stopMaking = runPeriodically(async () => {
    while (await makeNextExport(deps, log));
  }, { intervalMs: INTERVAL_MS, log })
  const stopDeleting = runPeriodically(async () => await deleteExpiredFiles(deps), {
    intervalMs: DELETE_INTERVAL_MS,
    log
  })
  return async () => {
    await Promise.all([stopMaking(), stopDeleting()])
  }
}

/**
 * Makes the export that has waited longest. A worker that is killed loses its lease soon, and the next one
 * goes on with the pages that are stored. @returns whether there was one
 */
export async function makeNextExport (deps: WorkerDeps, log: Log, { leaseSeconds = LEASE_SECONDS } = {}) {
  const claimed = await claimNext(deps, leaseSeconds)
  if (!claimed) return false
  try {
    await makeExport(deps, claimed, leaseSeconds)
  } catch (error) {
    if (error instanceof LeaseLost) return true
    log.warn({ err: error, exportId: claimed.id }, 'an export failed; it is tried again in a minute, for a day')
    await retryLater(deps, claimed)
  }
  return true
}

/** Gives up after a day, and mails that. */
async function retryLater ({ db, mailer }: WorkerDeps, { id, accountId, claim }: Claimed) {
  const mail = await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { id: accountId })
    const { rows: [released] } = await sql<{ status: string }>`
      update exports set claim = null, claimed_until = now() + ${RETRY_AFTER}::interval,
        status = case when requested_at < now() - ${GIVE_UP_AFTER}::interval then 'FAILED' else status end
      where id = ${id} and claim = ${claim} returning status`.execute(trx)
    if (!account || released?.status !== 'FAILED') return
    return await createMail(trx, {
      dedupeKey: `export-failed:${id}`,
      recipient: account.email,
      accountId,
      rateLimited: false,
      ...mailTemplatesFor(account.locale).exportFailed()
    })
  })
  void mailer.enqueue([mail])
}

async function claimNext ({ db }: WorkerDeps, leaseSeconds: number): Promise<Claimed | undefined> {
  const claim = randomUUID()
  const { rows: [claimed] } = await sql<{ id: string, accountId: string }>`
    update exports set status = 'RUNNING', claim = ${claim},
      claimed_until = now() + make_interval(secs => ${leaseSeconds})
    where id = (
      select id from exports where status in ('PENDING', 'RUNNING') and claimed_until <= now()
      order by claimed_until limit 1 for update skip locked
    ) returning id, account_id as "accountId"`.execute(db)
  return claimed && { ...claimed, claim }
}

async function makeExport (deps: WorkerDeps, claimed: Claimed, leaseSeconds: number) {
  const { db, privateStorage, readFile } = deps
  const { id, accountId } = claimed
  const renew = createLease(deps, claimed, leaseSeconds)
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
  for (const key of await privateStorage.list(`${folderOf(id)}pages/`)) await privateStorage.remove(key)
}

function pageReaderOf ({ callRpc, departures }: WorkerDeps, service: string): ReadPage {
  const rpc = pageRpcs.find((each) => each.service === service)
  return rpc
    ? async (page) => await callRpc(rpc, page, { timeoutMs: PAGE_TIMEOUT_MS })
    : departures.readPersonalData
}

/** @returns a function that keeps the lease and stores the progress; it throws LeaseLost */
function createLease ({ db }: WorkerDeps, { id, claim }: Claimed, leaseSeconds: number) {
  let renewedAt = 0
  return async (progress: number) => {
    if (Date.now() - renewedAt < RENEW_INTERVAL_MS) return
    renewedAt = Date.now()
    const renewed = await db.updateTable('exports')
      .set({
        progress: Math.floor(progress),
        claimed_until: sql`now() + make_interval(secs => ${leaseSeconds})`
      })
      .where('id', '=', id).where('claim', '=', claim).where('status', '=', 'RUNNING')
      .returning('id').executeTakeFirst()
    if (!renewed) throw new LeaseLost()
  }
}

/** Mails the link. The token exists in the mail alone. */
async function completeExport (
  { db, mailer, publicUrl }: WorkerDeps,
  { id, accountId, claim }: Claimed,
  { bytes, sha256 }: { bytes: number, sha256: string }
) {
  const mail = await db.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { id: accountId })
    const token = generateToken()
    const completed = await trx.updateTable('exports')
      .set({
        status: 'READY',
        progress: 100,
        claim: null,
        token_digest: digestOfToken(token),
        bytes,
        sha256,
        ready_at: sql`now()`,
        expires_at: sql`now() + ${LINK_LIFETIME}::interval`
      })
      .where('id', '=', id).where('claim', '=', claim).where('status', '=', 'RUNNING')
      .returning('id').executeTakeFirst()
    if (!account || !completed) throw new LeaseLost()
    return await createMail(trx, {
      dedupeKey: `export-ready:${id}`,
      recipient: account.email,
      accountId,
      collapseKey: `export ${accountId}`,
      rateLimited: false,
      // In the fragment, which browsers never send to a server.
      ...mailTemplatesFor(account.locale).exportReady(`${publicUrl}/my-data#${token}`)
    })
  })
  void mailer.enqueue([mail])
}
