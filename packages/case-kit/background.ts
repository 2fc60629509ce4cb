import type { Kysely, Transaction } from 'kysely'
import type { Media } from '@tandem/media-kit'
import { failedItems, runPeriodically, throwErrors, type Log } from '@tandem/process-kit'
import { copyCaseFiles, type ReportedImage } from './files.ts'
import { caseSources } from './metrics.ts'
import type { CaseTables } from './tables.ts'

const COPY_INTERVAL_MS = 10_000

interface Options<Tables extends CaseTables> {
  service: string
  db: Kysely<Tables>
  media: Media
  log: Log
  /** Called for each original in the transaction after which it is no longer needed. */
  release?: (trx: Transaction<Tables>, image: ReportedImage) => Promise<unknown>
  /** Called with the originals once they are copied. */
  onCopied?: (originals: string[]) => Promise<unknown>
}

/** Copies reported images every ten seconds, and counts open cases in the metrics, until it is stopped. */
export function startCases<Tables extends CaseTables> (
  { service, db, media, log, release, onCopied }: Options<Tables>
) {
  const source = { service, db: db as unknown as Kysely<CaseTables> }
  caseSources.add(source)
  const stop = runPeriodically(async () => {
    const errors: unknown[] = []
    const originals = await copyCaseFiles({ db, media }, release, (error) => {
      failedItems.inc()
      errors.push(error)
    })
    await onCopied?.(originals)
    throwErrors(errors)
  }, { intervalMs: COPY_INTERVAL_MS, log })
  return async () => {
    caseSources.delete(source)
    await stop()
  }
}
