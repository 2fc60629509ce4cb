import { startCases } from '@tandem/case-kit'
import { findNextDue } from '@tandem/database-kit'
import { runWhenDue, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { deleteUnused } from '../photos/files.ts'
import { liftEndedSuspensions } from './decisions.ts'

/** Copies reported images to private storage in the background. */
export const startCopying = ({ db, media }: Deps, log: Log) =>
  startCases({
    service: 'fitmatch',
    db,
    media,
    log,
    onCopied: async (originals) => await deleteUnused({ db, media }, originals)
  })

const MAX_INTERVAL_MS = 30_000

/** Ends suspensions at their time. */
export const startLifting = ({ db }: Deps, log: Log) =>
  runWhenDue(async () => await liftEndedSuspensions(db), {
    findNext: async () => await findNextDue(db, 'members', 'suspended_until'),
    maxIntervalMs: MAX_INTERVAL_MS,
    log
  }).stop
